import type { Position } from '../shared/page.ts';
import { type Queryable, sql } from '../storage/index.ts';

export interface FeedRow {
  readonly epoch: number;
  readonly xid: bigint;
  readonly eventKey: bigint;
  /** In the order of the feed, from 1 without a gap. */
  readonly number: bigint;
  readonly kind: string;
  readonly at: Date;
  readonly userId: string | null;
  readonly fromAccount: string | null;
  readonly fromSeq: bigint | null;
  readonly toAccount: string | null;
  readonly toSeq: bigint | null;
  readonly data: object | null;
  /** The transfer in its current state. */
  readonly transfer: {
    readonly id: string;
    readonly transferType: string | null;
    readonly fromAccountId: string;
    readonly toAccountId: string;
    /** Text, because a JSON number would be read through a float. */
    readonly amountMinor: string;
    readonly currencyCode: string;
    readonly status: string;
    readonly createdAt: string;
    readonly failureCode: string | null;
    readonly memo: string | null;
  } | null;
}

// Events that must not be returned yet are the last ones in this order. first_running() reads the locks of the server: it is asked only if the
// page has an event above the lowest running transaction of all. The subject of an event is looked up by key, one
// probe per row; the number before the first one is counted once, as a subquery of its own. Accounts of the institution itself
// are never returned. The position goes through a column: a planner that sees the epoch, which every event has, expects no event
// behind it, and sorts those of all partitions instead of merging their indexes.
const feed = sql(
  'events_feed',
  `select ($2::bigint, $3::xid8) >= (now.epoch, now.first_unused)
            or exists (select from event_epochs e
                       where e.institution_id = $1 and e.epoch = $2::bigint + 1 and e.epoch > $7::bigint
                         and $3::xid8 > e.last_before) as is_ahead,
          exists (select from event_horizons h
                  where h.institution_id = $1 and (h.epoch, h.xid, h.event_key) > ($2::bigint, $3::xid8, $4::bigint)) as is_archived,
          now.epoch as epoch_now, o.epoch, o.xid::text as xid, o.event_key, o.kind, o.recorded_at as at, u.user_id,
          f.account_id as from_account, o.from_seq, t.account_id as to_account, o.to_seq,
          o.data, r.transfer,
          coalesce($6::bigint, (select event_number($1, $2::bigint, $3::xid8, $4::bigint)))
            + row_number() over (order by o.epoch, o.xid, o.event_key) as number
   from (
     select coalesce(max(e.epoch), 0) as epoch, pg_snapshot_xmin(pg_current_snapshot()) as lowest_running,
            pg_snapshot_xmax(pg_current_snapshot()) as first_unused, $2::bigint as epoch_before, $3::xid8 as xid_before
     from event_epochs e where e.institution_id = $1
   ) now
   left join lateral (
     select o.epoch, o.xid, o.event_key, o.kind, o.subject_key, o.from_key, o.from_seq, o.to_key, o.to_seq, o.data,
            o.recorded_at
     from outbox o
     where o.institution_id = $1 and (o.epoch, o.xid, o.event_key) > (now.epoch_before, now.xid_before, $4::bigint)
     order by o.epoch, o.xid, o.event_key limit $5
   ) o on (o.epoch, o.xid) < (now.epoch, now.lowest_running) or o.xid < (select first_running($1))
   left join lateral (
     select t.user_key, json_build_object(
              'id', t.transfer_id, 'transferType', t.transfer_type, 'fromAccountId', t.from_account_id,
              'toAccountId', t.to_account_id, 'amountMinor', t.amount::text, 'currencyCode', t.currency,
              'status', t.status, 'createdAt', t.created_at, 'failureCode', t.failure_code, 'memo', t.memo) as transfer
     from transfers t
     where t.institution_id = $1 and t.transfer_key = o.subject_key and o.kind like 'transfer.%'
     offset 0
   ) r on true
   left join lateral (
     select u.user_id from users u
     where u.institution_id = $1
       and u.user_key = case when o.kind like 'member.%' or o.kind like 'consent.%' then o.subject_key else r.user_key end
     offset 0
   ) u on true
   left join lateral (
     select a.account_id from accounts a
     where a.institution_id = $1 and a.account_key = o.from_key and a.purpose is null offset 0
   ) f on true
   left join lateral (
     select a.account_id from accounts a
     where a.institution_id = $1 and a.account_key = o.to_key and a.purpose is null offset 0
   ) t on true
   order by o.epoch, o.xid, o.event_key`,
);

interface FeedQuestion {
  readonly after: Position;
  readonly limit: number;
  /** That of the last event before the position, if the caller knows it; otherwise it is counted. */
  readonly number?: bigint | null;
  /** The newest epoch when the position was read; without it, that of the position. */
  readonly readIn?: bigint | undefined;
}

/**
 * `isAhead`: the position is of a transaction that has not been yet, or that an epoch undid which began after the position was read.
 * `isArchived`: events behind the position are in the archive, so the rows are not the next ones. `epochNow` is the newest epoch.
 */
export async function selectFeed(
  db: Queryable,
  { after, limit, number = null, readIn }: FeedQuestion,
): Promise<{
  readonly isAhead: boolean;
  readonly isArchived: boolean;
  readonly epochNow: bigint;
  readonly rows: FeedRow[];
}> {
  const [epoch = 0n, xid, key] = after;
  const { rows } = await db.query<
    Omit<FeedRow, 'xid' | 'eventKey'> & {
      readonly isAhead: boolean;
      readonly isArchived: boolean;
      readonly epochNow: number;
      readonly xid: string;
      /** Null in the one row that there is when there are no events. */
      readonly eventKey: bigint | null;
    }
  >(feed, [db.institutionId, epoch, String(xid), key, limit, number, readIn ?? epoch]);
  return {
    isAhead: rows[0]?.isAhead === true,
    isArchived: rows[0]?.isArchived === true,
    epochNow: BigInt(rows[0]?.epochNow ?? epoch),
    rows: rows.flatMap((row) =>
      row.eventKey === null ? [] : [{ ...row, xid: BigInt(row.xid), eventKey: row.eventKey }],
    ),
  };
}

const positionOfNumber = sql(
  'events_position_of_number',
  `select coalesce(o.epoch, mark.epoch) as epoch, coalesce(o.xid, mark.xid)::text as xid,
          coalesce(o.event_key, mark.event_key) as event_key
   from (
     select coalesce(m.number, 0) as number, coalesce(m.epoch, 0) as epoch, coalesce(m.xid, '0') as xid,
            coalesce(m.event_key, 0) as event_key
     from (select) one
     left join lateral (
       select * from event_marks m where m.institution_id = $1 and m.number <= $2 order by m.number desc limit 1
     ) m on true
   ) mark
   left join lateral (
     select o.epoch, o.xid, o.event_key from outbox o
     where o.institution_id = $1 and (o.epoch, o.xid, o.event_key) > (mark.epoch, mark.xid, mark.event_key)
       and $2 > mark.number
     order by o.epoch, o.xid, o.event_key offset greatest($2 - mark.number - 1, 0) limit 1
   ) o on true
   where (o.event_key is not null or $2 = mark.number)
     and not exists (select from event_horizons h where h.institution_id = $1 and h.number > $2)`,
);

/** The position of the event with this number; the beginning for 0. Undefined if no event has the number yet, or it is in the archive. */
export async function selectPositionOfNumber(db: Queryable, number: bigint): Promise<Position | undefined> {
  const { rows } = await db.query<{
    readonly epoch: number;
    readonly xid: string;
    readonly eventKey: bigint;
  }>(positionOfNumber, [db.institutionId, number]);
  const [row] = rows;
  return row && [BigInt(row.epoch), BigInt(row.xid), row.eventKey];
}

const horizon = sql(
  'events_horizon',
  'select epoch, xid::text as xid, event_key, number from event_horizons where institution_id = $1',
);

/** The last event in the archive; undefined if there is none. */
export async function selectHorizon(
  db: Queryable,
): Promise<{ readonly position: Position; readonly number: bigint } | undefined> {
  const { rows } = await db.query<{
    readonly epoch: number;
    readonly xid: string;
    readonly eventKey: bigint;
    readonly number: bigint;
  }>(horizon, [db.institutionId]);
  const [row] = rows;
  return row && { position: [BigInt(row.epoch), BigInt(row.xid), row.eventKey], number: row.number };
}
