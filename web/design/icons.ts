import { html } from './html.ts';

/** Outlines on a square of 24. */
const outlines = {
  accounts: 'M3 10l9-6 9 6M5 10v8M10 10v8M14 10v8M19 10v8M3 20h18',
  transfer: 'M4 8h14M14 4l4 4-4 4M20 16H6M10 12l-4 4 4 4',
  spending: 'M4 20V10M10 20V4M16 20v-7M22 20H2',
  alerts: 'M6 16V11a6 6 0 0 1 12 0v5l2 2H4zM10 21h4',
  security: 'M12 3l8 3v6c0 5-3.5 8-8 9-4.5-1-8-4-8-9V6z',
  next: 'M9 5l7 7-7 7',
  back: 'M15 5l-7 7 7 7',
} as const;

export type IconName = keyof typeof outlines;

/** A picture beside a word; screen readers skip it. */
export function Icon({ name }: { readonly name: IconName }) {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d=${outlines[name]} /></svg>`;
}
