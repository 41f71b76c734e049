/** A day of the calendar, YYYY-MM-DD. Days sort as text. */
export type LocalDate = string;

/** A time of the wall clock, HH:MM or HH:MM:SS, from 00:00 on. */
export type LocalTime = string;

const dayMillis = 86_400_000;

/** The calendar day of an instant in an IANA zone. RangeError: no such zone, or an invalid Date. */
export function localDate(at: Date, timeZone: string): LocalDate {
  return dayOf(at.getTime() + offsetMillis(at.getTime(), timeZone));
}

/**
 * The instant at which the zone's clocks show a time of a day. Where clocks are set back and show it twice it is the
 * first of the two; where they are set forward and never show it, as much later as they were set forward: 02:30 in
 * a gap from 02:00 to 03:00 is 03:30. (RFC 5545, 3.3.5, says the same of both.) A whole day that a zone left out is
 * such a gap too.
 *
 * RangeError: no such zone, day or time.
 */
export function instantOf(date: LocalDate, time: LocalTime, timeZone: string): Date {
  const wallMillis = readWall(date, time);
  // No zone changes its clocks twice within two days, so that these are the offsets before and after a change.
  const before = offsetMillis(wallMillis - dayMillis, timeZone);
  const after = offsetMillis(wallMillis + dayMillis, timeZone);
  const shows = (offset: number) => offsetMillis(wallMillis - offset, timeZone) === offset;
  return new Date(wallMillis - (!shows(before) && shows(after) ? after : before));
}

/** The day so many days later, or earlier when negative. RangeError: no such day. */
export function addDays(date: LocalDate, days: number): LocalDate {
  return dayOf(readWall(date, '00:00') + days * dayMillis);
}

/** Whether the text is a day that the calendar has. */
export function isLocalDate(text: string): boolean {
  const midnight = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00Z`) : Number.NaN;
  return !Number.isNaN(midnight) && dayOf(midnight) === text;
}

/** 0 is Sunday, 6 is Saturday. */
export function weekday(date: LocalDate): number {
  return new Date(readWall(date, '00:00')).getUTCDay();
}

function readWall(date: LocalDate, time: LocalTime): number {
  const wall = Date.parse(`${date}T${time}Z`);
  // Date.parse takes 31 February for 3 March, and 24:00 for the next day's 00:00.
  const exact = /^\d{4}-\d{2}-\d{2}$/.test(date) && /^\d{2}:\d{2}(:\d{2})?$/.test(time);
  if (!exact || Number.isNaN(wall) || dayOf(wall) !== date) throw new RangeError('no such day or time');
  return wall;
}

function dayOf(wallMillis: number): LocalDate {
  return new Date(wallMillis).toISOString().slice(0, 10);
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** How far the zone's clocks are ahead of UTC at an instant. */
function offsetMillis(atMillis: number, timeZone: string): number {
  let format = formats.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(timeZone, format);
  }
  const shown: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(atMillis)) shown[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown;
  const wall = Date.UTC(year, month - 1, day, hour, minute, second);
  return wall - Math.floor(atMillis / 1_000) * 1_000;
}
