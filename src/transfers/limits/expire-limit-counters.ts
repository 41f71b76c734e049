import type { Queryable } from '../../storage/index.ts';
import { deleteOldCounters } from './counter-queries.ts';

const dayMillis = 24 * 60 * 60_000;
/** This month and the one before: `reconcile` reads from them whether a limit has counted before. */
const keptDays = 70;
const atOnce = 5_000;

/** Deletes up to 5,000 counters of periods that ended more than 70 days ago. Returns their number. */
export function expireLimitCounters(db: Queryable, now: Date): Promise<number> {
  const before = new Date(now.getTime() - keptDays * dayMillis).toISOString().slice(0, 10);
  return deleteOldCounters(db, before, atOnce);
}
