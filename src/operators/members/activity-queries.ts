import { type Queryable, sql } from '../../storage/index.ts';

/** An act of the member, or of an operator on the member. */
export interface ActivityRow {
  /** Of the entry in the audit. */
  readonly key: string;
  readonly at: Date;
  readonly action: string;
  readonly outcome: string;
  /** A code. The words of an operator are for those who may read the audit. */
  readonly reason: string | null;
  readonly isByOperator: boolean;
  /** The app; null if it is not known. */
  readonly clientName: string | null;
  /** Null for an act of an operator. */
  readonly address: string | null;
  readonly transferId: string | null;
  /** Equal ones that the entry stands for. */
  readonly times: number;
}

// The inner limit bounds the search for a member whom operators have read often.
const activity = sql(
  'operators_activity_of_member',
  `select e.audit_key::text as key, e.recorded_at as at, e.action, e.outcome, e.reason, e.operator is not null as is_by_operator, c.name as client_name,
          case when e.operator is null then host(e.address) end as address,
          case when e.action like 'transfer.%' then e.subject end as transfer_id, e.times
   from (select a.* from audit_entries a
         where a.institution_id = $1 and a.user_id = $2 order by a.audit_key desc limit 200) e
   left join clients c on c.institution_id = $1 and c.client_id = e.client_id
   where e.action not like '%.read' and e.action <> 'person.searched'
   order by e.audit_key desc limit 30`,
);

/** The last thirty of the last two hundred entries, the newest first. Reads by operators are left out. */
export async function selectActivity(db: Queryable, userId: string): Promise<ActivityRow[]> {
  return (await db.query<ActivityRow>(activity, [db.institutionId, userId])).rows;
}
