import { type Database, type InstitutionId, type Queryable, systemClock } from '../storage/index.ts';
import { askChecks, askChecksOn } from './ask-checks.ts';
import { type Checkpoint, selectPosition } from './checkpoint-queries.ts';
import type { Finding } from './finding.ts';
import { EventsOfAccounts, oneSidedPostings } from './told-entries.ts';
import {
  bounds,
  type CounterKey,
  type Since,
  selectCounterBound,
  selectToldEntries,
  selectToldInEvents,
} from './transfer-checks.ts';

export interface ReconcileOptions {
  readonly onFinding: (finding: Finding) => void;
  /** Called with the walk and its number of finished rows. */
  readonly onProgress?: (walk: string, done: number) => void;
  /** The service's current time: accounts must not be ahead of it, and it selects the periods of limits that still bind. */
  readonly at?: Date;
  /** Approximate rows per chunk; for accounts, entries per chunk. */
  readonly atOnce?: number;
}

export const usuallyAtOnce = 10_000;
/** Rows per counter, whose transfers of a day or a month are summed. */
const rowsOfACounter = 50;
/** The highest key, since rows without a parent may have any key. */
const lastKey = '9223372036854775807';

/**
 * Recomputes one institution's balances from its entries, and its holds and limit counters from its transfers; checks
 * references between tables; reports each row that is off. Returns the checkpoint from which `reconcileChanges` goes on if
 * nothing was.
 *
 * Runs beside the service: it locks nothing, and walks in chunks, each check in one statement and so one snapshot. Values
 * across two chunks are compared only as far as they never change.
 */
export async function reconcile(
  database: Pick<Database, 'read'>,
  institutionId: InstitutionId,
  options: ReconcileOptions,
): Promise<Checkpoint> {
  const events = new EventsOfAccounts();
  const atOnce = options.atOnce ?? usuallyAtOnce;
  const at = options.at ?? systemClock();
  return database.read(institutionId, async (db) => {
    const checkpoint = { at, ...(await selectPosition(db)) };
    await askChecks(db, 'whole', [institutionId], options);
    let weight = 0n;
    for (const walk of ['accounts', 'transfers', 'ids', 'events'] as const) {
      let after = walk === 'ids' ? '' : '0';
      let done = 0;
      for (;;) {
        const { rows } = await db.query<{ bound: string | null; rows: bigint }>(bounds[walk], [
          institutionId,
          after,
          atOnce,
        ]);
        const [next] = rows;
        const upTo = next?.bound ?? (walk === 'ids' ? after : lastKey);
        await askChecksOn(db, walk, { after, upTo }, { ...options, at });
        if (walk === 'accounts') {
          const accounts = await selectToldEntries(db, after, upTo);
          events.expect(accounts);
          for (const account of accounts) weight += account.weight;
        }
        if (walk === 'events') events.see(await selectToldInEvents(db, { after, upTo }));
        done += Number(next?.rows ?? 0);
        options.onProgress?.(walk, done);
        if (upTo === lastKey || next?.bound == null) break;
        after = upTo;
      }
    }
    // Also if an import ran between two chunks; then each posting turns out to be in order.
    if (weight !== 0n) for (const finding of await oneSidedPostings(db)) options.onFinding(finding);
    await walkCounters(db, { ...options, atOnce, since: '-infinity' });
    for (const finding of await events.findings(db)) options.onFinding(finding);
    return checkpoint;
  });
}

export async function walkCounters(
  db: Queryable,
  { atOnce, since, ...options }: ReconcileOptions & { readonly atOnce: number; readonly since: Since },
): Promise<void> {
  let after: CounterKey = [-1, 0n, '0001-01-01'];
  for (let done = 0; ; ) {
    const most = Math.ceil(atOnce / rowsOfACounter);
    const next = await selectCounterBound(db, { after, since, most });
    if (next === undefined) return;
    await askChecks(db, 'counters', [db.institutionId, ...after, ...next.bound, since], options);
    done += next.rows;
    options.onProgress?.('counters', done);
    after = next.bound;
  }
}
