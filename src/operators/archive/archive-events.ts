import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  appendAudit,
  type CommandOrigin,
  closePartition,
  dropPartition,
  type EventPartition,
  recordFile,
  selectLines,
  selectOldestPartition,
  wholeService,
} from '../../events/index.ts';
import { listAllInstitutions } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import { type Clock, Database, type SocketConnection, type Transaction } from '../../storage/index.ts';
import { isSame, readEventFile, writeEventFile } from './event-file.ts';
import { lockEndpointPositions, type Need, selectNeeds, waitBriefly } from './need-queries.ts';

/** The fewest days for which events stay in the feed. */
export const leastEventDays = 90;

interface ArchivedEvents {
  readonly file: string;
  readonly events: bigint;
  readonly sha256: string;
}

/** After each step, so that a test can interrupt the next one. */
export type ArchiveStep = 'closed' | 'written' | 'recorded' | 'dropped';

interface ArchiveDeps {
  /** By the owner's login. */
  readonly database: Database;
  readonly clock: Clock;
  readonly origin: CommandOrigin;
  readonly onStep?: (step: ArchiveStep, partition: string) => Promise<void>;
}

/** Something still needs the events of the oldest partition. */
export class EventsNeededError extends Error {
  override readonly name = 'EventsNeededError';
  readonly needs: readonly Need[];

  constructor(needs: readonly Need[]) {
    super('the events are still needed');
    this.needs = needs;
  }
}

/** By the owner's login. Its statements may read a whole partition. */
export function openArchiveDatabase(connection: string | SocketConnection): Database {
  return new Database({
    connection,
    maxConnections: 4,
    silenceMillis: 24 * 60 * 60_000,
    settings: { application_name: 'sharedraft archive', statement_timeout: '0' },
  });
}

const linesAtOnce = 2_000;
/** Tries of a step that waits for a lock or for older transactions, a second apart. */
const mostTries = 60;

/**
 * Moves the oldest partition of events into a file, if all of its events are older than the days. It closes the partition, writes and
 * reads the file, and drops the partition. Each step is one commit, and a run that was interrupted at any point is finished by the next.
 * Undefined if no partition is old enough. Throws EventsNeededError.
 */
export async function archiveOldestEvents(
  deps: ArchiveDeps,
  { folder, days }: { readonly folder: string; readonly days: number },
): Promise<ArchivedEvents | undefined> {
  const { database, onStep = async () => {} } = deps;
  const oldest = await database.directory(selectOldestPartition);
  if (oldest === undefined) return undefined;
  const partition = `outbox_${oldest.firstKey}`;
  if (oldest.closedAt === null) {
    if (!(await close(deps, oldest, { partition, days }))) return undefined;
    await onStep('closed', partition);
  }
  const file = path.join(folder, `events-${oldest.firstKey}-${oldest.endKey - 1n}.jsonl`);
  const recorded =
    oldest.events === null || oldest.digest === null
      ? undefined
      : { events: oldest.events, digest: oldest.digest };
  // A file that is not there any more, or not in this folder, is written again from the partition.
  const isThere = recorded !== undefined && isSame(await readEventFile(file), recorded);
  const written = isThere ? recorded : await writeEventFile(file, pagesOf(database, oldest));
  if (!isThere) {
    await onStep('written', partition);
    await database.directory((db) => recordFile(db, oldest.firstKey, written));
    await onStep('recorded', partition);
  }
  const archived = { file, events: written.events, sha256: written.digest.toString('hex') };
  await again(deps, async (tx) => {
    await waitBriefly(tx);
    if (!(await dropPartition(tx, oldest.firstKey, written.digest))) return false;
    await record(deps, tx, 'events.archived', { partition, ...audited(archived) });
    return true;
  });
  await onStep('dropped', partition);
  return archived;
}

/** False if the events are too young. */
async function close(
  deps: ArchiveDeps,
  { firstKey }: EventPartition,
  { partition, days }: { readonly partition: string; readonly days: number },
): Promise<boolean> {
  const asked = await deps.database.transaction(wholeService, (tx) => selectNeeds(tx, firstKey, days));
  if (asked.some(({ need }) => need === 'full' || need === 'young')) return false;
  if (asked.length > 0) throw new EventsNeededError(asked);
  await again(deps, async (tx) => {
    await waitBriefly(tx);
    await lockEndpointPositions(tx);
    const needs = await selectNeeds(tx, firstKey, null);
    if (needs.length > 0) throw new EventsNeededError(needs);
    await closePartition(tx, firstKey);
    await record(deps, tx, 'events.closed', { partition, days });
    return true;
  });
  return true;
}

/** The events of every institution in pages, one institution after the other. */
async function* pagesOf(database: Database, { firstKey }: EventPartition): AsyncGenerator<string[]> {
  for (const { institutionId } of await database.directory(listAllInstitutions)) {
    for (let after = -1n; ; ) {
      const page = { after, most: linesAtOnce };
      const lines = await database.read(institutionId, (db) => selectLines(db, firstKey, page));
      const last = lines.at(-1);
      if (last === undefined) break;
      yield lines.map(({ line }) => line);
      after = last.eventKey;
    }
  }
}

/** Repeats a transaction that returned false, or whose lock was not free in time. */
async function again({ database }: ArchiveDeps, work: (tx: Transaction) => Promise<boolean>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const isDone = await database.transaction(wholeService, work).catch((error) => {
      if (error instanceof Problem && error.code === 'overloaded' && tries < mostTries) return false;
      throw error;
    });
    if (isDone) return;
    if (tries === mostTries)
      throw new Problem('overloaded', 'A transaction that may read the events runs for more than a minute.');
    await sleep(1_000);
  }
}

/** A JSON number would be read through a float. */
function audited({ file, events, sha256 }: ArchivedEvents) {
  return { file: path.basename(file), events: String(events), sha256 };
}

function record(
  { clock, origin }: ArchiveDeps,
  tx: Transaction,
  action: 'events.closed' | 'events.archived',
  after: object,
): Promise<void> {
  return appendAudit(tx, { action, outcome: 'succeeded', origin, after }, clock());
}
