import {
  type BusinessTime,
  federalHolidays,
  type Institution,
  isBusinessDay,
  type LocalDate,
  localDate,
  selectBusinessDays,
} from '../../institutions/index.ts';
import type { Clock, Database } from '../../storage/index.ts';

export interface CalendarDay {
  readonly day: string;
  readonly weekday: string;
  readonly open: boolean;
  readonly source: 'institution' | 'Federal Reserve';
}

/** The weekdays of a year without business, and the exceptions of the institution; by default of the present year. */
export async function calendarOf(
  {
    database,
    clock,
    businessTime,
  }: { readonly database: Database; readonly clock: Clock; readonly businessTime: BusinessTime },
  { institutionId, timeZone }: Institution,
  wanted: number | undefined,
): Promise<CalendarDay[]> {
  const today = localDate(businessTime(institutionId, clock()), timeZone);
  const year = wanted ?? Number(today.slice(0, 4));
  const own = await database.read(institutionId, selectBusinessDays);
  const exceptions = new Map(
    own.map(({ day, open }) => [day, open ? ('OPEN' as const) : ('CLOSED' as const)]),
  );
  const days = [...federalHolidays(year), ...own.map(({ day }) => day).filter((day) => isOf(day, year))];
  return [...new Set(days)].toSorted().map((day) => ({
    day,
    weekday: weekdayOf(day),
    open: isBusinessDay(day, { timeZone, opensAt: '00:00', exceptions }),
    source: exceptions.has(day) ? 'institution' : 'Federal Reserve',
  }));
}

function isOf(day: LocalDate, year: number): boolean {
  return day.startsWith(`${year}-`);
}

function weekdayOf(day: LocalDate): string {
  return new Date(`${day}T12:00:00Z`).toLocaleDateString('en-US', { weekday: 'long', timeZone: 'UTC' });
}
