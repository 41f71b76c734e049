import {
  type Clock,
  type Database,
  type Directory,
  type InstitutionId,
  sqlState,
  sqlStateOf,
} from '../storage/index.ts';
import { appendAudit } from './audit/audit.ts';
import {
  insertEpoch,
  insertEpochAfterRestore,
  insertEpochsOfTimeline,
  selectEpoch,
} from './epoch-queries.ts';
import type { Origin } from './origin.ts';

/**
 * Begins a new epoch if the newest event has a transaction number that this cluster has not assigned yet, since the data then
 * comes from another cluster. Call it before any write; a second call does nothing.
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
 * Begins a new epoch for every institution if the server's timeline is not that of the events: it was promoted, or recovered
 * to an earlier moment. Call it on each new connection, before it writes. Returns whether epochs began. Fails on a standby,
 * as if the server could not be reached.
 *
 * Ignores a login without rights in the database; a check at the start refuses it with a sentence.
 */
export async function beginEpochsOfTimeline(db: Directory, at: Date): Promise<boolean> {
  return insertEpochsOfTimeline(db, at).catch((error) => {
    if (sqlStateOf(error) === sqlState.insufficientPrivilege) return false;
    throw error;
  });
}

/**
 * Begins a new epoch after an operator restored the database to an earlier state. From then on, positions in the undone
 * part are refused forever, and no new event has the id of an undone one. Waits for running writers of events.
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
