import {
  type Clock,
  type Database,
  type Directory,
  type InstitutionId,
  sqlState,
  sqlStateOf,
} from '../storage/index.ts';
import { appendAudit } from './audit.ts';
import {
  insertEpoch,
  insertEpochAfterRestore,
  insertEpochsOfTimeline,
  selectEpoch,
} from './epoch-queries.ts';
import type { Origin } from './origin.ts';

/**
 * Begins a new epoch where the newest event carries a transaction number that the cluster has not given out yet: the data
 * came from another. To be called before anything is written; does nothing when called again.
 */
export async function beginEpochAfterRestore(
  database: Database,
  institutionId: InstitutionId,
  clock: Clock,
): Promise<boolean> {
  const begun = await database.read(institutionId, (db) => insertEpochAfterRestore(db, clock()));
  return begun > 0;
}

/**
 * Begins a new epoch for every institution if the server has another timeline than the one that events were written on: it
 * was promoted, or recovered to an earlier moment. To be called with each new connection, before it writes. Returns whether
 * epochs began. Fails on a standby, as if the server could not be reached.
 *
 * A login without rights in the database is let through: it is refused elsewhere, with a sentence.
 */
export async function beginEpochsOfTimeline(db: Directory, at: Date): Promise<boolean> {
  return insertEpochsOfTimeline(db, at).catch((error) => {
    if (sqlStateOf(error) === sqlState.insufficientPrivilege) return false;
    throw error;
  });
}

/**
 * Begins a new epoch, since the operator says that the database was put back to an earlier state. From then on a position in
 * what was undone is refused, for ever, and no event has the id of one that was undone. Waits for whoever is writing events.
 */
export async function beginEpoch(
  database: Database,
  institutionId: InstitutionId,
  clock: Clock,
  origin: Origin,
): Promise<void> {
  await database.transaction(institutionId, async (tx) => {
    const before = await selectEpoch(tx);
    await insertEpoch(tx, clock());
    const after = await selectEpoch(tx);
    const change = { before: { epoch: before }, after: { epoch: after } };
    const entry = { action: 'events.epoch_begun', outcome: 'succeeded', origin, ...change } as const;
    await appendAudit(tx, entry, clock());
  });
}
