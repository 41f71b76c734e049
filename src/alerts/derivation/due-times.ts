import { addDays, instantOf, localDate } from '../../institutions/index.ts';
import type { AlertChannel } from '../alert.ts';

/** HH:MM on the clocks of the member's zone. */
export interface QuietHours {
  readonly from: string;
  readonly to: string;
}

/** How a member wants alerts; null is none. */
export interface Timing {
  readonly channels: readonly AlertChannel[];
  readonly quietFrom: string | null;
  readonly quietTo: string | null;
  readonly digestAt: string | null;
}

/** When an alert goes out, and whether together with others. For the inbox alone it is in no digest: nobody is disturbed by it. */
export function releaseTime(
  { channels, digestAt, quietFrom, quietTo }: Timing,
  { timeZone, now }: { readonly timeZone: string; readonly now: Date },
): { readonly dueAt: Date; readonly inDigest: boolean } {
  const goesOut = channels.some((channel) => channel !== 'INBOX');
  if (digestAt !== null && goesOut) return { dueAt: nextTimeOfDay(now, digestAt, timeZone), inDigest: true };
  const quiet = quietFrom === null || quietTo === null ? null : { from: quietFrom, to: quietTo };
  return { dueAt: afterQuietHours(now, quiet, timeZone), inDigest: false };
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
