import { addDays, instantOf, type LocalDate, type LocalTime, localDate, weekday } from './time-zone.ts';

/** The days on which an institution processes transfers that are not instant. */
export interface BusinessCalendar {
  /** IANA name. */
  readonly timeZone: string;
  /** When processing begins on a business day. */
  readonly opensAt: LocalTime;
  /** Days on which the institution differs from the Federal Reserve; they win over weekends and holidays. */
  readonly exceptions: ReadonlyMap<LocalDate, 'OPEN' | 'CLOSED'>;
}

/**
 * When an order given at an instant is processed: null at once, otherwise the instant of the opening that it waits
 * for. It waits when given after the cut-off (at the cut-off itself is in time, 12 CFR 229.19(a)(5)), before the
 * opening, or on a day that is none for business. So nobody overtakes who ordered earlier.
 */
export function cutOff(at: Date, cutOffTime: LocalTime, calendar: BusinessCalendar): Date | null {
  const { timeZone, opensAt } = calendar;
  const today = localDate(at, timeZone);
  if (isBusinessDay(today, calendar) && at <= instantOf(today, cutOffTime, timeZone)) {
    const opening = instantOf(today, opensAt, timeZone);
    return at < opening ? opening : null;
  }
  return instantOf(nextBusinessDay(today, calendar), opensAt, timeZone);
}

/** The business day that an order of this moment belongs to. */
export function businessDate(at: Date, calendar: BusinessCalendar): LocalDate {
  const today = localDate(at, calendar.timeZone);
  return isBusinessDay(today, calendar) ? today : nextBusinessDay(today, calendar);
}

/** The first business day after the given day. */
export function nextBusinessDay(date: LocalDate, calendar: BusinessCalendar): LocalDate {
  let next = addDays(date, 1);
  while (!isBusinessDay(next, calendar)) next = addDays(next, 1);
  return next;
}

/** False on weekends, holidays and days that the time zone left out. The institution's own exceptions win. */
export function isBusinessDay(date: LocalDate, { timeZone, exceptions }: BusinessCalendar): boolean {
  const exception = exceptions.get(date);
  const open = exception === undefined ? !isWeekend(date) && !isFederalHoliday(date) : exception === 'OPEN';
  return open && localDate(instantOf(date, '12:00', timeZone), timeZone) === date;
}

export function isWeekend(date: LocalDate): boolean {
  return weekday(date) === 0 || weekday(date) === 6;
}

function isFederalHoliday(date: LocalDate): boolean {
  return federalHolidays(Number(date.slice(0, 4))).includes(date);
}

/** A date, or the n-th of a weekday in a month, where the last one is the -1st. */
type Rule =
  | { readonly month: number; readonly day: number; readonly since?: number }
  | { readonly month: number; readonly nth: number; readonly weekday: number };

const [monday, thursday] = [1, 4];

/** 5 U.S.C. 6103(a), as the Federal Reserve Banks observe it. */
const rules: readonly Rule[] = [
  { month: 1, day: 1 },
  { month: 1, nth: 3, weekday: monday }, // Martin Luther King, Jr.
  { month: 2, nth: 3, weekday: monday }, // Washington
  { month: 5, nth: -1, weekday: monday }, // Memorial Day
  { month: 6, day: 19, since: 2021 }, // Juneteenth
  { month: 7, day: 4 },
  { month: 9, nth: 1, weekday: monday }, // Labor Day
  { month: 10, nth: 2, weekday: monday }, // Columbus
  { month: 11, day: 11 }, // Veterans Day
  { month: 11, nth: 4, weekday: thursday }, // Thanksgiving
  { month: 12, day: 25 },
];

/**
 * The weekdays of a year on which the Federal Reserve Banks are closed. A holiday on a Sunday is observed on the
 * Monday after, one on a Saturday is not moved, so that the Friday before stays a business day
 * (https://www.federalreserve.gov/aboutthefed/k8.htm).
 */
export function federalHolidays(year: number): LocalDate[] {
  return rules.flatMap((rule) => {
    if ('nth' in rule) return [nthWeekday(year, rule.month, rule.nth, rule.weekday)];
    if (year < (rule.since ?? 0)) return [];
    const date = isoDate(year, rule.month, rule.day);
    if (weekday(date) === 6) return [];
    return [weekday(date) === 0 ? addDays(date, 1) : date];
  });
}

function nthWeekday(year: number, month: number, nth: number, day: number): LocalDate {
  if (nth < 0) {
    const next = month === 12 ? isoDate(year + 1, 1, 1) : isoDate(year, month + 1, 1);
    const last = addDays(next, -1);
    return addDays(last, -((weekday(last) - day + 7) % 7) + (nth + 1) * 7);
  }
  const first = isoDate(year, month, 1);
  return addDays(first, ((day - weekday(first) + 7) % 7) + (nth - 1) * 7);
}

function isoDate(year: number, month: number, day: number): LocalDate {
  return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}
