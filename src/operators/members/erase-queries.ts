import { type Queryable, sql } from '../../storage/index.ts';

/** The facts that decide whether a person may be erased, and the ids that lead to the data. */
export interface ErasureRow {
  readonly userKey: bigint | null;
  readonly userId: string | null;
  readonly memberNumbers: readonly string[];
  readonly accountIds: readonly string[];
  readonly openAccounts: readonly string[];
  /** The last movement on an account, or the registration if it is later. */
  readonly lastMoved: Date | null;
}

const erasure = sql(
  'operators_erasure',
  `with own as (
     select h.account_key from holders h where h.institution_id = $1 and h.person_key = $2
     union
     select a.account_key from customer_persons cp
     join accounts a on a.institution_id = $1 and a.customer_key = cp.customer_key
     where cp.institution_id = $1 and cp.person_key = $2
   )
   select u.user_key, u.user_id,
          array(select c.member_number from customer_persons cp
                join customers c on c.institution_id = $1 and c.customer_key = cp.customer_key
                where cp.institution_id = $1 and cp.person_key = $2) as member_numbers,
          array(select a.account_id from own
                join accounts a on a.institution_id = $1 and a.account_key = own.account_key) as account_ids,
          array(select a.account_id from own
                join accounts a on a.institution_id = $1 and a.account_key = own.account_key
                where not a.closed order by a.account_id) as open_accounts,
          greatest(u.created_at, (select max(b.last_at) from own
                                  join balances b on b.institution_id = $1 and b.account_key = own.account_key)) as last_moved
   from (select) one
   left join users u on u.institution_id = $1 and u.person_key = $2`,
);

export async function selectErasure(db: Queryable, personKey: bigint): Promise<ErasureRow> {
  const { rows } = await db.query<ErasureRow>(erasure, [db.institutionId, personKey]);
  return rows[0] as ErasureRow;
}
