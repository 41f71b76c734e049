import { type Directory, type Queryable, sql } from '../storage/index.ts';

/* For the owner's login: the service may neither read a partition by its name nor change its record. So only the first is declared to the tests. */

/** A partition of the events, on its way into the archive. */
export interface EventPartition {
  readonly firstKey: bigint;
  readonly endKey: bigint;
  readonly closedAt: Date | null;
  /** Events in its file, with the file's SHA-256; null before it is written. */
  readonly events: bigint | null;
  readonly digest: Buffer | null;
}

const oldestPartition = sql(
  'events_oldest_partition',
  `select first_key, end_key, closed_at, events, digest from event_partitions
   where dropped_at is null order by first_key limit 1`,
);

export async function selectOldestPartition(db: Directory): Promise<EventPartition | undefined> {
  return (await db.query<EventPartition>(oldestPartition)).rows[0];
}

const close = { name: 'events_close_partition', text: 'select close_event_partition($1)' };

export async function closePartition(tx: Queryable, firstKey: bigint): Promise<void> {
  await tx.query(close, [firstKey]);
}

const written = {
  name: 'events_partition_written',
  text: `update event_partitions set events = $2, digest = $3, written_at = now()
         where first_key = $1 and closed_at is not null and dropped_at is null`,
};

export async function recordFile(
  db: Directory,
  firstKey: bigint,
  { events, digest }: { readonly events: bigint; readonly digest: Buffer },
): Promise<void> {
  const { rowCount } = await db.query(written, [firstKey, events, digest]);
  if (rowCount !== 1) throw new Error('events: the partition is not closed');
}

const drop = {
  name: 'events_drop_partition',
  text: 'select from drop_event_partition($1, $2) as dropped where dropped',
};

/** False while a transaction runs that may still read the partition. */
export async function dropPartition(tx: Queryable, firstKey: bigint, digest: Buffer): Promise<boolean> {
  return (await tx.query(drop, [firstKey, digest])).rowCount === 1;
}

/** The next events of an institution in the partition, each as the line of a file. */
export async function selectLines(
  db: Queryable,
  firstKey: bigint,
  { after, most }: { readonly after: bigint; readonly most: number },
): Promise<{ readonly eventKey: bigint; readonly line: string }[]> {
  const text = `select o.event_key, to_json(o)::text as line from outbox_${firstKey} o
                where o.institution_id = $1 and o.event_key > $2 order by o.event_key limit $3`;
  return (
    await db.query<{ eventKey: bigint; line: string }>({ name: '', text }, [db.institutionId, after, most])
  ).rows;
}
