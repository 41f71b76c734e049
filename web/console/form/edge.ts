import { addDays, zonedMoment } from '../../design/format/dates.ts';

/** An end of a period in its two fields. An open end has neither; without a time it is the whole day. */
export interface Edge {
  readonly day: string;
  readonly time: string;
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

/**
 * The fields of a value of the address: a day, a time of the institution's clocks, or an instant, as a figure of Today has it. Nonsense leaves
 * the fields empty, and the service refuses it.
 */
export function edgeOf(value: string, timeZone: string): Edge {
  const isInstant = instant.test(value) && !Number.isNaN(Date.parse(value));
  const clock = isInstant ? zonedMoment(value, timeZone).slice(0, 19).replace(/:00$/, '') : value;
  const [, day = '', time = ''] = /^(\d{4}-\d\d-\d\d)?(?:T(\d\d:\d\d(?::\d\d)?))?$/.exec(clock) ?? [];
  return { day, time };
}

/** The value of the address, empty for an open end. */
export function valueOfEdge({ day, time }: Edge): string {
  return time === '' ? day : `${day}T${time}`;
}

/** Days of both ends: `['2026-11-20', '2026-11-26']`. */
export type Days = readonly [since: string, until: string];

/** The choices of one press, by the day of the institution. */
export function choicesOn(today: string): readonly { readonly label: string; readonly days: Days }[] {
  const yesterday = addDays(today, -1);
  return [
    { label: 'Today', days: [today, today] },
    { label: 'Yesterday', days: [yesterday, yesterday] },
    { label: '7 days', days: [addDays(today, -6), today] },
    { label: '30 days', days: [addDays(today, -29), today] },
  ];
}

/** A value of the time field alone: the service needs its day. */
export function lacksDay(value: string): boolean {
  return value.startsWith('T');
}

/** `on Nov 20, 2026`, `from Nov 20, 2026 to Nov 26, 2026`, `before Nov 20, 2026, 3:04 PM`; empty for any time. */
export function wordsOfPeriod(
  since: string,
  until: string,
  place: { locale?: string; timeZone: string },
): string {
  const [from, to] = [since, until].map((value) => edgeOf(value, place.timeZone));
  if (from === undefined || to === undefined) return '';
  const isDay = from.day !== '' && from.day === to.day && from.time === '' && to.time === '';
  if (isDay) return `on ${wordsOf(from, place.locale)}`;
  const beginning = from.day === '' ? '' : `from ${wordsOf(from, place.locale)}`;
  const end = to.day === '' ? '' : `${to.time === '' ? 'to' : 'until'} ${wordsOf(to, place.locale)}`;
  return `${beginning} ${end}`.trim();
}

/** Fields are on the institution's clocks already, so they are formatted without a zone of their own. */
function wordsOf({ day, time }: Edge, locale: string | undefined): string {
  const date = new Date(`${day}T${time || '00:00'}Z`);
  if (Number.isNaN(date.getTime())) return day;
  const timeStyle = time === '' ? undefined : time.length > 5 ? 'medium' : 'short';
  return new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle, timeZone: 'UTC' }).format(date);
}
