import { html } from '../design/html.ts';
import { session } from './session.ts';

/** A moment on the clocks of the institution. */
export function momentOf(moment: string | null | undefined): string {
  if (!moment) return '';
  const { timeZone } = session.value?.institution ?? {};
  const options = { dateStyle: 'medium', timeStyle: 'medium', timeZone } as const;
  return new Intl.DateTimeFormat(undefined, options).format(new Date(moment));
}

export function Moment({ at }: { at: string | null | undefined }) {
  return at ? html`<time datetime=${at}>${momentOf(at)}</time>` : null;
}
