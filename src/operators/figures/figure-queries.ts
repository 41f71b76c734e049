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
  readonly oldestAt: Date | null;
  readonly nextDueAt: Date | null;
}

const reviews = sql(
  'figures_reviews',
  `select p.held_for, count(*)::integer as transfers, min(t.created_at) as oldest_at, min(p.due_at) as next_due_at
   from pending_transfers p
   join transfers t on t.institution_id = $1 and t.transfer_key = p.transfer_key
   where p.institution_id = $1
   group by p.held_for
   order by p.held_for`,
);

export async function selectReviews(db: Queryable): Promise<ReviewsRow[]> {
  return (await db.query<ReviewsRow>(reviews, [db.institutionId])).rows;
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
