/** Options of a date that stands on a page. Left out, the zone and the language are those of the browser. */
export interface Place {
  readonly locale?: string | undefined;
  readonly timeZone?: string | undefined;
}

/** `Friday, November 20`; with the year if it is not that of `now`. */
export function formatDay(moment: string, { locale, timeZone }: Place = {}, now = new Date()): string {
  const date = new Date(moment);
  const year = date.getFullYear() === now.getFullYear() ? undefined : 'numeric';
  const options = { weekday: 'long', day: 'numeric', month: 'long', year, timeZone } as const;
  return new Intl.DateTimeFormat(locale, options).format(date);
}

/** `Nov 20, 2026, 3:04 PM`. */
export function formatMoment(moment: string, { locale, timeZone }: Place = {}): string {
  const options = { dateStyle: 'medium', timeStyle: 'short', timeZone } as const;
  return new Intl.DateTimeFormat(locale, options).format(new Date(moment));
}

/** `November 2026` of `2026-11`. */
export function formatMonth(month: string, { locale }: Place = {}): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
    new Date(Date.UTC(year, number - 1, 1)),
  );
}

/** `2026-11` of a moment in the browser's zone. */
export function monthOf(date: Date): string {
  return `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}`;
}

/** The month so many months later; negative numbers go back. */
export function addMonths(month: string, count: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  const months = year * 12 + number - 1 + count;
  return `${Math.floor(months / 12)}-${String((months % 12) + 1).padStart(2, '0')}`;
}

/** The first and the last day of a month: `2026-11-01`, `2026-11-30`. */
export function daysOf(month: string): { readonly first: string; readonly last: string } {
  const [year = 0, number = 1] = month.split('-').map(Number);
  const days = new Date(Date.UTC(year, number, 0)).getUTCDate();
  return { first: `${month}-01`, last: `${month}-${days}` };
}

/** The day so many days later: `2026-11-20`; negative numbers go back. */
export function addDays(day: string, count: number): string {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + count);
  return date.toISOString().slice(0, 10);
}

/** By time zone. To make a format takes longer than to use it a hundred times. */
const clocks = new Map<string, Intl.DateTimeFormat>();

/**
 * A moment on the clocks of a zone, with its offset from UTC (ISO 8601): `2026-11-20T12:04:05.678901-05:00`. It keeps the fraction as it is
 * written, and names one moment also in the hour that the end of summer time repeats.
 */
export function zonedMoment(moment: string, timeZone: string): string {
  const clock = clocks.get(timeZone) ?? clockOf(timeZone);
  clocks.set(timeZone, clock);
  const parts = Object.fromEntries(
    clock.formatToParts(new Date(moment)).map(({ type, value }) => [type, value]),
  );
  const { year, month, day, hour, minute, second, timeZoneName = '' } = parts;
  const [fraction = ''] = /\.\d+/.exec(moment) ?? [];
  const offset = timeZoneName.replace('GMT', '') || '+00:00';
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction}${offset}`;
}

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const two = '2-digit';
  return new Intl.DateTimeFormat('en-US', {
    ...{ timeZone, hourCycle: 'h23', timeZoneName: 'longOffset' },
    ...{ year: 'numeric', month: two, day: two, hour: two, minute: two, second: two },
  });
}
