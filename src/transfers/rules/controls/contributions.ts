import { addDays, isWeekend, type LocalDate, localDate } from '../../../institutions/index.ts';

/** The most that a person may contribute to all of their IRAs together for a year, in cents of US dollars. */
export interface ContributionLimit {
  readonly year: number;
  readonly limitCents: bigint;
  /** In addition, for a person who is 50 or older at the end of the year. */
  readonly catchUpCents: bigint;
  /** The last day for contributions of the year; left out: the usual filing date. */
  readonly filingDate?: LocalDate | null;
}

/**
 * 26 U.S.C. 219(b)(5) as adjusted by the IRS: irs.gov, "Retirement topics - IRA contribution limits", and Notice
 * 2025-67 for 2026, the first year whose catch-up was adjusted.
 */
const publishedLimits: readonly ContributionLimit[] = [
  ...[2019, 2020, 2021, 2022].map((year) => ({ year, limitCents: 6_000_00n, catchUpCents: 1_000_00n })),
  { year: 2023, limitCents: 6_500_00n, catchUpCents: 1_000_00n },
  { year: 2024, limitCents: 7_000_00n, catchUpCents: 1_000_00n },
  { year: 2025, limitCents: 7_000_00n, catchUpCents: 1_000_00n },
  { year: 2026, limitCents: 7_500_00n, catchUpCents: 1_100_00n },
];

/**
 * The person's limit for a year, in cents. `own` are the institution's own rows: they win over the published ones
 * of the same year. A year without a published limit has the limit of the latest known year before it: the IRS has
 * never lowered one. Without a birth date there is no catch-up.
 */
export function contributionLimitCents(
  year: number,
  birthDate: LocalDate | null,
  own: readonly ContributionLimit[] = [],
): bigint {
  const byYear = new Map([...publishedLimits, ...own].map((limit) => [limit.year, limit]));
  const known = [...byYear.values()].toSorted((a, b) => a.year - b.year);
  const limit = known.findLast((one) => one.year <= year) ?? known[0];
  if (limit === undefined) throw new Error('transfers: no contribution limit is known');
  const fiftyByYearsEnd = birthDate !== null && year - Number(birthDate.slice(0, 4)) >= 50;
  return limit.limitCents + (fiftyByYearsEnd ? limit.catchUpCents : 0n);
}

/**
 * The tax year of a contribution: the institution's current year or, on request, the previous year until the end of its
 * filing date. Null: requested after that date. `own` are the institution's own rows.
 */
export function contributionYear(
  {
    at,
    timeZone,
    previousYear,
  }: { readonly at: Date; readonly timeZone: string; readonly previousYear: boolean },
  own: readonly ContributionLimit[] = [],
): number | null {
  const today = localDate(at, timeZone);
  const year = Number(today.slice(0, 4));
  if (!previousYear) return year;
  const ownDate = own.find((limit) => limit.year === year - 1)?.filingDate;
  return today <= (ownDate ?? filingDate(year)) ? year - 1 : null;
}

/** Postponed for all taxpayers, IRAs included: IRS Notices 2020-23 and 2021-21. */
const postponed: ReadonlyMap<number, LocalDate> = new Map([
  [2020, '2020-07-15'],
  [2021, '2021-05-17'],
]);

/**
 * The day by which returns for the previous year, and contributions for it, are due: 15 April or, as 26 U.S.C. 7503
 * has it, the next day that is no weekend and no holiday in the District of Columbia, whose Emancipation Day may be
 * one. Patriots' Day moves it in Maine and Massachusetts only: such an institution sets a date of its own.
 */
export function filingDate(year: number): LocalDate {
  let date: LocalDate = `${year}-04-15`;
  while (isWeekend(date) || date === emancipationDay(year)) date = addDays(date, 1);
  return postponed.get(year) ?? date;
}

/** 16 April; from a weekend it is moved to the nearest weekday (D.C. Code 1-612.02). */
function emancipationDay(year: number): LocalDate {
  const date: LocalDate = `${year}-04-16`;
  if (!isWeekend(date)) return date;
  return isWeekend(addDays(date, 1)) ? addDays(date, -1) : addDays(date, 1);
}
