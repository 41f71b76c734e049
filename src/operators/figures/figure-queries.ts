import { type Queryable, sql } from '../../storage/index.ts';

export interface MovedRow {
  readonly transferType: string | null;
  readonly status: string;
  readonly currency: string;
  readonly transfers: number;
  readonly amount: string;
}

/** By class, so that each range of the index is read and no other row. */
const listClasses = `(select unnest(array[0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25]::smallint[]))`;

const moved = sql(
  'figures_moved',
  `select t.transfer_type, t.status, t.currency, count(*)::integer as transfers, sum(t.amount)::text as amount
   from transfers t
   where t.institution_id = $1 and t.list_class in ${listClasses} and t.transfer_key > 0 and t.created_at >= $2
   group by t.transfer_type, t.status, t.currency
   order by t.transfer_type, t.status, t.currency`,
);

/** The transfers ordered since a moment, by type and state. */
export async function selectMoved(db: Queryable, since: Date): Promise<MovedRow[]> {
  return (await db.query<MovedRow>(moved, [db.institutionId, since])).rows;
}

export interface DeclineRow {
  readonly failureCode: string | null;
  readonly transfers: number;
}

const declines = sql(
  'figures_declines',
  `select t.failure_code, count(*)::integer as transfers
   from transfers t
   where t.institution_id = $1 and t.list_class in ${listClasses} and t.transfer_key > 0 and t.created_at >= $2
     and t.status = 'FAILED'
   group by t.failure_code
   order by transfers desc, t.failure_code`,
);

export async function selectDeclines(db: Queryable, since: Date): Promise<DeclineRow[]> {
  return (await db.query<DeclineRow>(declines, [db.institutionId, since])).rows;
}

export interface MinuteRow {
  readonly minutesAgo: number;
  readonly transfers: number;
}

const minutes = sql(
  'figures_minutes',
  `select floor(extract(epoch from $2::timestamptz - t.created_at) / 60)::integer as minutes_ago, count(*)::integer as transfers
   from transfers t
   where t.institution_id = $1 and t.list_class in ${listClasses} and t.transfer_key > 0
     and t.created_at > $2::timestamptz - interval '1 hour' and t.created_at <= $2
   group by 1
   order by 1`,
);

/** The transfers of each minute in the hour before a moment. A minute without one has no row. */
export async function selectMinutes(db: Queryable, until: Date): Promise<MinuteRow[]> {
  return (await db.query<MinuteRow>(minutes, [db.institutionId, until])).rows;
}

export interface ReviewsRow {
  readonly heldFor: string;
  readonly transfers: number;
  readonly under15Minutes: number;
  readonly underAnHour: number;
  readonly underADay: number;
  readonly older: number;
  readonly oldestAt: Date | null;
  readonly nextDueAt: Date | null;
}

// By the key of each transfer that waits: `offset 0` keeps the planner from a scan of all transfers.
const reviews = sql(
  'figures_reviews',
  `select p.held_for, count(*)::integer as transfers,
          count(*) filter (where t.created_at > $2)::integer as under15_minutes,
          count(*) filter (where t.created_at <= $2 and t.created_at > $3)::integer as under_an_hour,
          count(*) filter (where t.created_at <= $3 and t.created_at > $4)::integer as under_a_day,
          count(*) filter (where t.created_at <= $4)::integer as older,
          min(t.created_at) as oldest_at, min(p.due_at) as next_due_at
   from pending_transfers p
   cross join lateral (
     select t.created_at from transfers t where t.institution_id = $1 and t.transfer_key = p.transfer_key offset 0
   ) t
   where p.institution_id = $1
   group by p.held_for
   order by p.held_for`,
);

/** The transfers that wait, by reason and age. `edges` are those of `edgesOfAges`. */
export async function selectReviews(
  db: Queryable,
  edges: readonly [Date, Date, Date],
): Promise<ReviewsRow[]> {
  return (await db.query<ReviewsRow>(reviews, [db.institutionId, ...edges])).rows;
}

export interface SignInsRow {
  readonly outcome: string;
  readonly signIns: number;
}

const signIns = sql(
  'figures_sign_ins',
  `select a.outcome, coalesce(sum(a.times), 0)::integer as sign_ins
   from audit_entries a
   where a.institution_id = $1 and a.recorded_at >= $2 and a.action = 'login'
   group by a.outcome
   order by a.outcome`,
);

export async function selectSignIns(db: Queryable, since: Date): Promise<SignInsRow[]> {
  return (await db.query<SignInsRow>(signIns, [db.institutionId, since])).rows;
}

export interface WebhookLagRow {
  /** The most events that an active endpoint has yet to accept. */
  readonly eventsBehind: bigint;
  /** When the oldest of them was recorded; null if there is none. */
  readonly oldestAt: Date | null;
}

// Of each active endpoint: the events ahead of its position, and those behind it that are sent again. As webhook_figures, for one institution.
const webhookLag = sql(
  'figures_webhook_lag',
  `select coalesce(max(ahead.events + behind.events), 0) as events_behind,
          min(least(ahead.oldest, behind.oldest)) as oldest_at
   from webhook_endpoints e
   cross join lateral (
     select count(*) as events, min(a.recorded_at) as oldest
     from (select o.recorded_at from outbox o
           where o.institution_id = $1 and (o.epoch, o.xid, o.event_key) > (e.epoch, e.xid, e.event_key)
           order by o.epoch, o.xid, o.event_key limit 1000) a
   ) ahead
   cross join lateral (
     select count(*) as events, min(w.recorded_at) as oldest
     from (select o.recorded_at
           from webhook_deliveries d
           join outbox o on o.institution_id = $1 and (o.epoch, o.xid, o.event_key) = (d.epoch, d.xid, d.event_key)
           where d.institution_id = $1 and d.endpoint_id = e.endpoint_id and d.state = 'WAITING'
           order by d.number limit 1000) w
   ) behind
   where e.institution_id = $1 and e.status = 'ACTIVE' and e.transport = 'HTTPS'`,
);

/** How far the webhooks are behind. An endpoint counts up to 1,000 events on either side of its position. */
export async function selectWebhookLag(db: Queryable): Promise<WebhookLagRow> {
  return (await db.query<WebhookLagRow>(webhookLag, [db.institutionId])).rows[0] as WebhookLagRow;
}
