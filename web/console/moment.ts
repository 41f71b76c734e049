import type { Column } from '../common/table.ts';
import { zonedMoment } from '../design/format/dates.ts';
import { html } from '../design/html.ts';
import { session } from './session.ts';

/** By time zone. To make a format takes longer than to use it a hundred times, and a ledger shows thousands of moments. */
const formats = new Map<string | undefined, Intl.DateTimeFormat>();

/** A moment on the clocks of the institution. */
export function momentOf(moment: string | null | undefined): string {
  if (!moment) return '';
  const { timeZone } = session.value?.institution ?? {};
  const options = { dateStyle: 'medium', timeStyle: 'medium', timeZone } as const;
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat(undefined, options);
  formats.set(timeZone, format);
  return format.format(new Date(moment));
}

export function institutionZone(): string {
  return session.value?.institution.timeZone ?? 'UTC';
}

/** `2026-11-20`: the day of a moment at the institution, of now without one. */
export function dayOf(moment = new Date().toISOString()): string {
  return zonedMoment(moment, institutionZone()).slice(0, 10);
}

/** The day of a moment at the institution; its title is the whole moment. */
export function Day({ at }: { at: string }) {
  const { timeZone } = session.value?.institution ?? {};
  const day = new Date(at).toLocaleDateString(undefined, { dateStyle: 'medium', timeZone });
  return html`<time datetime=${at} title=${momentOf(at)}>${day}</time>`;
}

/** The time of a moment, to the second. */
export function TimeOfDay({ at }: { at: string }) {
  const { timeZone } = session.value?.institution ?? {};
  const time = new Date(at).toLocaleTimeString(undefined, { timeStyle: 'medium', timeZone });
  return html`<time datetime=${at}>${time}</time>`;
}

/** The time of a moment of today, the day of another one; its title is the whole moment. */
export function ShortMoment({ at }: { at: string | null | undefined }) {
  if (!at) return null;
  const { timeZone } = session.value?.institution ?? {};
  const [day, today] = [new Date(at), new Date()].map((one) =>
    one.toLocaleDateString(undefined, { month: 'short', day: 'numeric', timeZone }),
  );
  const time = new Date(at).toLocaleTimeString(undefined, { timeStyle: 'short', timeZone });
  return html`<time datetime=${at} title=${momentOf(at)}>${day === today ? time : day}</time>`;
}

export function Moment({ at }: { at: string | null | undefined }) {
  return at ? html`<time datetime=${at}>${momentOf(at)}</time>` : null;
}

/** A column of moments. They sort by UTC; the file has them on the clocks of the institution, with the offset. */
export function momentColumn<Row>(
  title: string,
  momentIn: (row: Row) => string | null | undefined,
): Column<Row> {
  return {
    title,
    text: (row) => momentIn(row) ?? '',
    inFile: (row) => {
      const moment = momentIn(row);
      return moment ? zonedMoment(moment, institutionZone()) : '';
    },
    cell: (row) => html`<${Moment} at=${momentIn(row)} />`,
  };
}
