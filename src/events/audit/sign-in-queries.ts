import { type Queryable, sql } from '../../storage/index.ts';

/** A sign-in of a member, or a refused one under the member's name. */
export interface RecentSignIn {
  readonly at: Date;
  readonly outcome: 'succeeded' | 'refused';
  /** The app; null if it is not known. */
  readonly clientName: string | null;
  readonly address: string | null;
  /** Equal ones that the entry stands for. */
  readonly times: number;
}

// A member's newest entries only, so that one with many other acts is not read through.
const recent = sql(
  'events_recent_sign_ins',
  `select e.recorded_at as at, e.outcome, e.client_id, host(e.address) as address, e.times
   from (select recorded_at, audit_key, action, outcome, client_id, address, times from audit_entries
         where institution_id = $1 and user_id = $2 order by audit_key desc limit 500) e
   where e.action = 'login'
   order by e.audit_key desc limit 20`,
);

export interface RecentSignInRow extends Omit<RecentSignIn, 'clientName'> {
  readonly clientId: string | null;
}

/** The last twenty, the newest first. */
export async function selectRecentSignIns(db: Queryable, userId: string): Promise<RecentSignInRow[]> {
  return (await db.query<RecentSignInRow>(recent, [db.institutionId, userId])).rows;
}
