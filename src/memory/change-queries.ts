import { type Directory, sql } from '../storage/index.ts';

/** Balances, with the institution, the key and the number of each side by side. */
export interface Known {
  readonly institutions: readonly number[];
  readonly accountKeys: readonly bigint[];
  readonly seqs: readonly bigint[];
}

/** How far the log of the primary was on its disk. Every commit that was confirmed before stands below it. */
export interface LogPosition {
  readonly flushed: string;
  /** The cluster and its timeline, on which the position counts. */
  readonly timeline: string;
}

export interface Changes {
  /** The moment of the statement, as a snapshot. */
  readonly at: string;
  /** False: changes since the earlier moment may be lost, or there was none. */
  readonly isKept: boolean;
  /** institution * 65536 + subject, in digits; null if none is kept. */
  readonly changed: readonly string[] | null;
  /** The places, from 1, of the balances that have moved; null if the question named no balances. */
  readonly moved: readonly number[] | null;
  /** A `LogPosition`, if the question asked for it. */
  readonly flushed?: string;
  readonly timeline?: string | null;
}

const changesSince = sql('memory_changes_since', 'select * from changes_since($1, $2, $3, $4, $5)');

/* The position is read behind the snapshot of the statement, so it covers each durable commit that the snapshot sees. */
const changesAndPosition = sql(
  'memory_changes_and_position',
  `select c.*, pg_current_wal_flush_lsn()::text as flushed, (select t.timeline from event_timeline t) as timeline
   from changes_since($1, $2, $3, $4, $5) c`,
);

/** `withPosition`: also how far the log is. */
export async function selectChanges(
  db: Directory,
  { since, withPosition }: { readonly since: string | null; readonly withPosition?: boolean },
  known: Known,
): Promise<Changes> {
  // Those of an institution together: each run of them is one look of the database.
  const order = [...known.institutions.keys()].sort(
    (one, other) => (known.institutions[one] as number) - (known.institutions[other] as number),
  );
  const sorted = <Value>(values: readonly Value[]) => order.map((place) => values[place]);
  const institutions = sorted(known.institutions);
  const values = [
    since,
    [...new Set(institutions)],
    institutions,
    sorted(known.accountKeys),
    sorted(known.seqs),
  ];
  const [changes] = (await db.query<Changes>(withPosition ? changesAndPosition : changesSince, values)).rows;
  if (changes === undefined) throw new Error('memory: the question has no answer');
  return { ...changes, moved: changes.moved?.map((place) => (order[place - 1] as number) + 1) ?? null };
}

/** How far the log of the primary is now. Undefined before the first start of the service. */
export async function selectLogPosition(db: Directory): Promise<LogPosition | undefined> {
  const nothing = { institutions: [], accountKeys: [], seqs: [] };
  const { flushed, timeline } = await selectChanges(db, { since: null, withPosition: true }, nothing);
  return flushed && timeline ? { flushed, timeline } : undefined;
}

const deleteOld = sql('memory_delete_old_changes', `select delete_old_changes($1, interval '10 minutes')`);

/** Changes are kept for ten to twenty minutes. */
export async function deleteOldChanges(db: Directory, now: Date): Promise<void> {
  await db.query(deleteOld, [now]);
}
