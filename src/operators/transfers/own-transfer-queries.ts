import { listClasses } from '../../ledger/index.ts';
import { type Queryable, sql } from '../../storage/index.ts';
import type { FoundTransferRow, TransferPlace, TransferSearchFilter } from './search-queries.ts';

/*
 * The transfers of one account or one member for the search of operators. A branch for each status and type, as in the lists of the members'
 * API (ADR 6): an index returns its rows in their order, so a page costs its own rows, whatever else the institution has.
 */

const newestFirst = 'order by t.created_at desc, t.transfer_key desc';

function branchesOf(scope: string): string {
  return listClasses
    .map(
      ({ code }) => `
      (select t.* from transfers t
       where t.institution_id = $1 and ${scope} and t.list_class = ${code} and ${code} = any ($2::smallint[])
         and t.created_at >= $3 and (t.created_at, t.transfer_key) < ($4, $5)
       ${newestFirst} limit $6)`,
    )
    .join(' union all');
}

function windowOf(owner: string, branches: string): string {
  return `select t.transfer_key, t.transfer_id, t.transfer_type, t.from_account_id, t.to_account_id, t.amount, t.currency, t.status,
          t.failure_code, u.user_id, t.operator, t.created_at, t.settled_at,
          (($7::text is null or t.from_account_id = $7 or t.to_account_id = $7)
           and ($8::text is null or u.user_id = $8) and ($9::text is null or t.failure_code = $9)
           and ($10::bigint is null or t.amount >= $10) and ($11::bigint is null or t.amount <= $11)) is true as matches
   from (${owner}) owner
   cross join lateral (select t.* from (${branches}) t ${newestFirst} limit $6) t
   left join users u on u.institution_id = $1 and u.user_key = t.user_key
   ${newestFirst}`;
}

// A transfer that was refused because both accounts are the same is listed once.
const ofAccount = sql(
  'operators_transfers_of_account',
  windowOf(
    'select account_key from accounts where institution_id = $1 and account_id = $7',
    `${branchesOf('t.from_key = owner.account_key')} union all
     ${branchesOf('t.to_key = owner.account_key and t.from_key is distinct from t.to_key')}`,
  ),
);

const ofUser = sql(
  'operators_transfers_of_user',
  windowOf(
    'select user_key from users where institution_id = $1 and user_id = $8',
    branchesOf('t.user_key = owner.user_key'),
  ),
);

/** The newest transfers of the account, or else of the member, of a filter before a place; each says whether it matches the rest. */
export async function selectOwnWindow(
  db: Queryable,
  { before, filter, limit }: { before?: TransferPlace; filter: TransferSearchFilter; limit: number },
): Promise<FoundTransferRow[]> {
  const { status, transferType, accountId, userId, failureCode, leastMinor, mostMinor, since, until } =
    filter;
  const classes = listClasses
    .filter((one) => status === undefined || one.status === status)
    .filter((one) => transferType === undefined || one.transferType === transferType)
    .map(({ code }) => code);
  const period = [since ?? '-infinity', before?.at ?? until ?? 'infinity', before?.key ?? 0n];
  const given = [accountId, userId, failureCode, leastMinor, mostMinor].map((value) => value ?? null);
  const values = [db.institutionId, classes, ...period, limit, ...given];
  return (await db.query<FoundTransferRow>(accountId === undefined ? ofUser : ofAccount, values)).rows;
}
