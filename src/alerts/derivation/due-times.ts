import { addDays, instantOf, localDate } from '../../institutions/index.ts';

/** HH:MM on the clocks of the member's zone. */
export interface QuietHours {
  readonly from: string;
  readonly to: string;
}

/**
 * The end of the quiet hours that the moment is in, or the moment itself. `from` belongs to them and `to` does not; they may go past
 * midnight.
 */
export function afterQuietHours(at: Date, quiet: QuietHours | null, timeZone: string): Date {
  if (quiet === null) return at;
  const today = localDate(at, timeZone);
  const isOvernight = quiet.from > quiet.to;
  for (const began of isOvernight ? [addDays(today, -1), today] : [today]) {
    const from = instantOf(began, quiet.from, timeZone);
    const to = instantOf(isOvernight ? addDays(began, 1) : began, quiet.to, timeZone);
    if (at >= from && at < to) return to;
  }
  return at;
}

/** The next moment after `at` at which the member's clocks show the time of day (HH:MM). */
export function nextTimeOfDay(at: Date, time: string, timeZone: string): Date {
  const today = localDate(at, timeZone);
  const next = instantOf(today, time, timeZone);
  return next > at ? next : instantOf(addDays(today, 1), time, timeZone);
}
