import { type Queryable, sql } from '../storage/index.ts';

const heldAccountIds = sql(
  'transfers_held_account_ids',
  `select a.account_id
   from holders h
   join accounts a on a.institution_id = h.institution_id and a.account_key = h.account_key
   where h.institution_id = $1 and h.person_key = $2 and a.customer_key is not null
     and ($3::bigint[] is null or a.account_key = any ($3))
   order by a.account_id`,
);

/** The accounts that a person holds, of those that a consent covers; null: there is none. */
export async function selectHeldAccountIds(
  db: Queryable,
  personKey: bigint,
  coveredKeys: readonly bigint[] | null,
): Promise<string[]> {
  const values = [db.institutionId, personKey, coveredKeys];
  const { rows } = await db.query<{ accountId: string }>(heldAccountIds, values);
  return rows.map((row) => row.accountId);
}

const neighborAccountIds = sql(
  'transfers_neighbor_account_ids',
  `select a.account_id
   from accounts a
   where a.institution_id = $1 and a.customer_key in (
     select f.customer_key from accounts f where f.institution_id = $1 and f.account_id = $2
     union
     select other.customer_key
     from accounts f
     join customer_persons mine on mine.institution_id = $1 and mine.customer_key = f.customer_key
     join users u on u.institution_id = $1 and u.person_key = mine.person_key
     join customer_persons other on other.institution_id = $1 and other.person_key = mine.person_key
     where f.institution_id = $1 and f.account_id = $2)
   order by a.account_id`,
);

/** The accounts of an account's membership, and of the other memberships of its users. */
export async function selectNeighborAccountIds(db: Queryable, accountId: string): Promise<string[]> {
  const { rows } = await db.query<{ accountId: string }>(neighborAccountIds, [db.institutionId, accountId]);
  return rows.map((row) => row.accountId);
}
