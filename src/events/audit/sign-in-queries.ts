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

const recent = sql(
  'events_recent_sign_ins',
  `select e.recorded_at as at, e.outcome, e.client_id, host(e.address) as address, e.times
   from audit_entries e
   where e.institution_id = $1 and e.user_id = $2 and e.action = 'login'
   order by e.audit_key desc limit 20`,
);

export interface RecentSignInRow extends Omit<RecentSignIn, 'clientName'> {
  readonly clientId: string | null;
}

/** The last twenty, the newest first. */
export async function selectRecentSignIns(db: Queryable, userId: string): Promise<RecentSignInRow[]> {
  return (await db.query<RecentSignInRow>(recent, [db.institutionId, userId])).rows;
}
