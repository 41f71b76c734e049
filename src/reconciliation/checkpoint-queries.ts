import { type Database, type InstitutionId, type Queryable, sql } from '../storage/index.ts';
import { ordered } from './transfer-checks.ts';

/** A position in the feed of events: everything before it was committed. */
interface FeedPosition {
  readonly epoch: bigint;
  readonly xid: string;
}

/** The point up to which the books were found in order. */
export interface Checkpoint extends FeedPosition {
  /** The institution's time when the run began. */
  readonly at: Date;
}

const position = sql(
  'reconciliation_position',
  `select coalesce(max(e.epoch), 0)::bigint as epoch, pg_snapshot_xmin(pg_current_snapshot())::text as xid
   from event_epochs e where e.institution_id = $1`,
);

/** The first transaction that may still be running: later events have its number or a higher one. */
export async function selectPosition(db: Queryable): Promise<FeedPosition> {
  const [row] = (await db.query<FeedPosition>(position, [db.institutionId])).rows;
  if (row === undefined) throw new Error('reconciliation: the feed has no position');
  return row;
}

const checkpoint = sql(
  'reconciliation_checkpoint',
  `select r.checkpoint_at as at, r.checkpoint_epoch as epoch, r.checkpoint_xid::text as xid
   from reconcile_runs r
   where r.institution_id = $1 and r.checkpoint_epoch = (
     select coalesce(max(e.epoch), 0) from event_epochs e where e.institution_id = $1)`,
);

/** Undefined without one, and after a restore: then the positions of before say nothing. */
export async function findCheckpoint(
  database: Database,
  institutionId: InstitutionId,
): Promise<Checkpoint | undefined> {
  const { rows } = await database.read(institutionId, (db) =>
    db.query<Checkpoint>(checkpoint, [institutionId]),
  );
  return rows[0];
}

export interface ChangedAccount {
  readonly accountKey: bigint;
  readonly accountId: string;
  readonly seq: bigint;
}

const changedAccounts = sql(
  'reconciliation_changed_accounts',
  `select account_key, account_id, seq from balances
   where institution_id = $1 and account_key > $2 and last_at >= $3 order by account_key limit $4`,
);

/** The next accounts with an entry since the moment. */
export async function selectChangedAccounts(
  db: Queryable,
  { after, since, most }: { readonly after: bigint; readonly since: Date; readonly most: number },
): Promise<ChangedAccount[]> {
  return (await db.query<ChangedAccount>(changedAccounts, [db.institutionId, after, since, most])).rows;
}

const accountsOfKeys = sql(
  'reconciliation_accounts_of_keys',
  `select b.account_key, b.account_id, b.seq from balances b
   where b.institution_id = $1 and b.account_key = any ($2::bigint[])`,
);

export async function selectAccountsOfKeys(
  db: Queryable,
  keys: readonly bigint[],
): Promise<ChangedAccount[]> {
  if (keys.length === 0) return [];
  return (await db.query<ChangedAccount>(accountsOfKeys, [db.institutionId, keys])).rows;
}

export interface ChangeEvent {
  readonly eventKey: bigint;
  readonly xid: string;
  readonly transferKey: bigint | null;
}

// The position goes through a column, so that the indexes of all partitions are merged, as in the feed.
const eventsSince = sql(
  'reconciliation_events_since',
  `select o.event_key, o.xid::text as xid, case when o.kind like 'transfer.%' then o.subject_key end as transfer_key
   from (select $2::bigint as epoch, $3::xid8 as xid, $4::bigint as event_key offset 0) before
   cross join lateral (
     select o.* from outbox o
     where o.institution_id = $1 and (o.epoch, o.xid, o.event_key) > (before.epoch, before.xid, before.event_key)
     order by o.epoch, o.xid, o.event_key limit $5) o
   order by o.epoch, o.xid, o.event_key`,
);

/** The next events behind a position. */
export async function selectEventsSince(
  db: Queryable,
  { epoch, xid, eventKey }: FeedPosition & { readonly eventKey: bigint },
  most: number,
): Promise<ChangeEvent[]> {
  return (await db.query<ChangeEvent>(eventsSince, [db.institutionId, epoch, xid, eventKey, most])).rows;
}

/** An account with the entries that events since the checkpoint tell of. */
export interface ToldAccount extends ChangedAccount {
  readonly firstTold: bigint | null;
}

const newEntries = sql(
  'reconciliation_new_entries',
  `select a.account_key, n.entries, n.sum, n.weight
   from unnest($2::bigint[], $3::bigint[], $4::bigint[]) as a (account_key, seq, first_told)
   cross join lateral (
     select count(*) filter (where e.kind in ${ordered} and (e.seq >= a.first_told or e.recorded_at > $5)) as entries,
            coalesce(sum(e.seq) filter (where e.kind in ${ordered} and (e.seq >= a.first_told or e.recorded_at > $5)), 0)::text
              as sum,
            coalesce(sum(e.amount::numeric * hashint8extended(e.posting_key, 0))
                       filter (where e.kind not in ${ordered} and e.recorded_at > $5), 0)::text as weight
     from entries e where e.institution_id = $1 and e.account_key = a.account_key and e.seq <= a.seq
     offset 0) n`,
);

/**
 * Per account: the entries that need an event behind the checkpoint, as `selectToldEntries` counts them. These are the entries
 * from the first one that such an event tells of, and those that were recorded after `since`.
 */
export async function selectNewEntries(db: Queryable, accounts: readonly ToldAccount[], since: Date) {
  const { rows } = await db.query<{ accountKey: bigint; entries: bigint; sum: string; weight: string }>(
    newEntries,
    [
      db.institutionId,
      accounts.map(({ accountKey }) => accountKey),
      accounts.map(({ seq }) => seq),
      accounts.map(({ firstTold }) => firstTold),
      since,
    ],
  );
  return rows.map((row) => ({ ...row, sum: BigInt(row.sum), weight: BigInt(row.weight) }));
}
