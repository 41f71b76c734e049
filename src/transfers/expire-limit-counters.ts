import type { Queryable } from '../storage/index.ts';
import { deleteOldCounters } from './limit-queries.ts';

const dayMillis = 24 * 60 * 60_000;
/** The present month and the one before, by which `reconcile` sees whether a limit has counted before. */
const keptDays = 70;
const atOnce = 5_000;

/** Forgets counters of periods that are over, some thousands at a time, but nothing of the last 70 days. Answers how many. */
export function expireLimitCounters(db: Queryable, now: Date): Promise<number> {
  const before = new Date(now.getTime() - keptDays * dayMillis).toISOString().slice(0, 10);
  return deleteOldCounters(db, before, atOnce);
}
