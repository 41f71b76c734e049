import { listClasses } from '../../ledger/index.ts';
import { type Queryable, sql } from '../../storage/index.ts';
import { type FoundTransferRow, valuesOfWindow, type WindowWanted } from './search-queries.ts';

/*
 * The transfers of one account or one member for the search of operators. A branch for each status and type, as in the lists of the members'
 * API (ADR 6): an index returns its rows in their order, so a page costs its own rows, whatever else the institution has.
 */

type Direction = 'asc' | 'desc';

const orderOf = (direction: Direction) => `order by t.created_at ${direction}, t.transfer_key ${direction}`;

function branchesOf(scope: string, direction: Direction): string {
  const [behind, end] = direction === 'desc' ? ['<', '>='] : ['>', '<'];
  return listClasses
    .map(
      ({ code }) => `
      (select t.* from transfers t
       where t.institution_id = $1 and ${scope} and t.list_class = ${code} and ${code} = any ($2::smallint[])
         and (t.created_at, t.transfer_key) ${behind} ($3, $4) and t.created_at ${end} $5
       ${orderOf(direction)} limit $6)`,
    )
    .join(' union all');
}

function windowOf(owner: string, branches: string, direction: Direction): string {
  return `select t.transfer_key, t.transfer_id, t.transfer_type, t.from_account_id, t.to_account_id, t.amount, t.currency, t.status,
          t.failure_code, u.user_id, t.operator, t.created_at, t.settled_at,
          (($7::text is null or t.from_account_id = $7 or t.to_account_id = $7)
           and ($8::text is null or u.user_id = $8) and ($9::text is null or t.failure_code = $9)
           and ($10::bigint is null or t.amount >= $10) and ($11::bigint is null or t.amount <= $11)) is true as matches
   from (${owner}) owner
   cross join lateral (select t.* from (${branches}) t ${orderOf(direction)} limit $6) t
   left join users u on u.institution_id = $1 and u.user_key = t.user_key
   ${orderOf(direction)}`;
}

// A transfer that was refused because both accounts are the same is listed once.
const windowOfAccount = (direction: Direction) =>
  windowOf(
    'select account_key from accounts where institution_id = $1 and account_id = $7',
    `${branchesOf('t.from_key = owner.account_key', direction)} union all
     ${branchesOf('t.to_key = owner.account_key and t.from_key is distinct from t.to_key', direction)}`,
    direction,
  );
const windowOfUser = (direction: Direction) =>
  windowOf(
    'select user_key from users where institution_id = $1 and user_id = $8',
    branchesOf('t.user_key = owner.user_key', direction),
    direction,
  );

const newestOfAccount = sql('operators_transfers_of_account', windowOfAccount('desc'));
const oldestOfAccount = sql('operators_transfers_of_account_oldest', windowOfAccount('asc'));
const newestOfUser = sql('operators_transfers_of_user', windowOfUser('desc'));
const oldestOfUser = sql('operators_transfers_of_user_oldest', windowOfUser('asc'));

/** The transfers of the account, or else of the member, of a filter behind a place; each says whether it matches the rest. */
export async function selectOwnWindow(db: Queryable, wanted: WindowWanted): Promise<FoundTransferRow[]> {
  const { filter, isDescending } = wanted;
  const values = valuesOfWindow(db, wanted);
  if (filter.accountId === undefined)
    return (await db.query<FoundTransferRow>(isDescending ? newestOfUser : oldestOfUser, values)).rows;
  return (await db.query<FoundTransferRow>(isDescending ? newestOfAccount : oldestOfAccount, values)).rows;
}
