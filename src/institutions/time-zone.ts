/** A day of the calendar, YYYY-MM-DD. Days sort as text. */
export type LocalDate = string;

/** A time of the wall clock, HH:MM or HH:MM:SS, from 00:00 on. */
export type LocalTime = string;

/** The calendar day of an instant in an IANA zone. Throws RangeError for an unknown zone or an invalid Date. */
export function localDate(at: Date, timeZone: string): LocalDate {
  return at.toTemporalInstant().toZonedDateTimeISO(timeZone).toPlainDate().toString();
}

/**
 * The instant at which the clocks of the zone show a time of a day. A repeated time means the first of the two; a skipped
 * time moves by the length of the gap, so 02:30 in a gap from 02:00 to 03:00 is 03:30 (RFC 5545, section 3.3.5). A day
 * that a zone skipped is such a gap too. Throws RangeError for an unknown zone, day or time.
 */
export function instantOf(date: LocalDate, time: LocalTime, timeZone: string): Date {
  const plainTime = plainTimeOf(time);
  return new Date(plainDate(date).toZonedDateTime({ timeZone, plainTime }).epochMilliseconds);
}

/** The same for an end: a repeated time means the second of the two. */
export function lastInstantOf(date: LocalDate, time: LocalTime, timeZone: string): Date {
  const clock = plainDate(date).toPlainDateTime(plainTimeOf(time));
  return new Date(clock.toZonedDateTime(timeZone, { disambiguation: 'later' }).epochMilliseconds);
}

/** The day this many days later, or earlier if negative. Throws RangeError for an unknown day. */
export function addDays(date: LocalDate, days: number): LocalDate {
  return plainDate(date).add({ days }).toString();
}

/** Whether the text is a day of the calendar. */
export function isLocalDate(text: string): boolean {
  try {
    plainDate(text);
    return true;
  } catch {
    return false;
  }
}

/** Tried in a formatter: Intl.supportedValuesOf omits valid names such as Europe/Kyiv. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return /^[A-Z]/.test(name);
  } catch {
    return false;
  }
}

/** 0 is Sunday, 6 is Saturday. */
export function weekday(date: LocalDate): number {
  return plainDate(date).dayOfWeek % 7;
}

/** Temporal also accepts other forms of a date, so the form is checked here. */
function plainDate(date: LocalDate): Temporal.PlainDate {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) throw new RangeError('the day must be YYYY-MM-DD');
  return Temporal.PlainDate.from(date);
}

function plainTimeOf(time: LocalTime): Temporal.PlainTime {
  if (!/^\d{2}:\d{2}(:\d{2})?$/.test(time)) throw new RangeError('the time must be HH:MM or HH:MM:SS');
  return Temporal.PlainTime.from(time);
}
