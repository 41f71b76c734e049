import type { Basis } from '../memory/index.ts';
import { insertOf, jsonOf, type Queryable, sql } from '../storage/index.ts';
import { type Account, accountBalances, type NewAccount } from './account.ts';
import type { Category } from './account-types.ts';

/**
 * The columns of an account and its figures. Each statement below writes out its condition of visibility, so that a missing
 * one is visible in the statement.
 */
const columns = `
  a.account_key, b.seq, a.account_id, a.account_number, a.di_account_type,
  a.description, a.category, a.currency, a.closed, a.delinquent, a.credit_limit,
  b.posted, b.debits_pending,
  coalesce(l.accrued_interest, 0) as accrued_interest, coalesce(l.fees_due, 0) as fees_due`;
const withFigures = `
  join balances b on b.institution_id = a.institution_id and b.account_key = a.account_key
  left join loans l on l.institution_id = a.institution_id and l.account_key = a.account_key`;

/** An account as read, with the keys that its answer stands on. */
export interface FoundAccount {
  readonly accountKey: bigint;
  readonly seq: bigint;
  readonly accountId: string;
  readonly accountNumber: string;
  readonly diAccountType: string;
  readonly description: string;
  readonly category: Category;
  readonly currency: string;
  readonly closed: boolean;
  readonly delinquent: boolean;
  readonly creditLimit: bigint;
  readonly posted: bigint;
  readonly debitsPending: bigint;
  readonly accruedInterest: bigint;
  readonly feesDue: bigint;
}

/** The account, its holders and its loan change together; its balance has a number of its own. */
export function noteAccount(basis: Basis, row: FoundAccount): Account {
  const { accountId, accountNumber, diAccountType, description, category, currency, closed, delinquent } =
    row;
  basis.add('account', row.accountKey);
  basis.addBalance(row.accountKey, row.seq);
  return {
    accountId,
    accountNumber,
    diAccountType,
    description,
    category,
    currency,
    ...accountBalances(row),
    open: !closed,
    closed,
    delinquent,
  };
}

/** SQL: an account `a` that a consent covers, if there is one; the parameter has the keys of those that it names. */
const isCovered = (keys: string) => `(${keys}::bigint[] is null or a.account_key = any (${keys}))`;

/** The person who asks, and the accounts to which a consent restricts the app; null: to none. */
export interface AskingPerson {
  readonly personKey: bigint;
  readonly coveredKeys: readonly bigint[] | null;
}

const selectAccountStatement = sql(
  'accounts_select',
  `select ${columns}
   from accounts a ${withFigures}
   where a.institution_id = $1 and a.account_id = $3 and a.category <> 'INTERNAL'
     and ($2::bigint is null or exists (
       select from holders h
       where h.institution_id = a.institution_id and h.account_key = a.account_key and h.person_key = $2))
     and ${isCovered('$4')}`,
);

/** The person must hold the account; a client passes null. */
export async function selectAccount(
  db: Queryable,
  asking: AskingPerson | null,
  accountId: string,
): Promise<FoundAccount | undefined> {
  const values = [db.institutionId, asking?.personKey ?? null, accountId, asking?.coveredKeys ?? null];
  return (await db.query<FoundAccount>(selectAccountStatement, values)).rows[0];
}

const selectHeldAccountsStatement = sql(
  'accounts_select_all_held',
  `select ${columns}
   from holders h
   join accounts a on a.institution_id = h.institution_id and a.account_key = h.account_key ${withFigures}
   where h.institution_id = $1 and h.person_key = $2 and a.category <> 'INTERNAL' and ${isCovered('$3')}
   order by a.account_id`,
);

export async function selectHeldAccounts(
  db: Queryable,
  { personKey, coveredKeys }: AskingPerson,
): Promise<FoundAccount[]> {
  const values = [db.institutionId, personKey, coveredKeys];
  return (await db.query<FoundAccount>(selectHeldAccountsStatement, values)).rows;
}

/** A membership without accounts gives one row without an account; a missing membership gives no row. */
type CustomerAccountRow = (FoundAccount | { readonly accountId: null }) & { readonly customerKey: bigint };

interface CustomerAccounts {
  readonly customerKey: bigint;
  readonly accounts: readonly FoundAccount[];
}

function toCustomerAccounts(rows: readonly CustomerAccountRow[]): CustomerAccounts | undefined {
  const [first] = rows;
  if (first === undefined) return undefined;
  const accounts = rows.filter((row): row is FoundAccount & CustomerAccountRow => row.accountId !== null);
  return { customerKey: first.customerKey, accounts };
}

const selectCustomerAccountsStatement = sql(
  'accounts_select_of_customer',
  `select c.customer_key, ${columns}
   from customers c
   left join (accounts a ${withFigures})
          on a.institution_id = c.institution_id and a.customer_key = c.customer_key
         and a.category <> 'INTERNAL'
   where c.institution_id = $1 and c.customer_id = $2
   order by a.account_id`,
);

/** Undefined if the membership does not exist. */
export async function selectCustomerAccounts(
  db: Queryable,
  customerId: string,
): Promise<CustomerAccounts | undefined> {
  const values = [db.institutionId, customerId];
  const { rows } = await db.query<CustomerAccountRow>(selectCustomerAccountsStatement, values);
  return toCustomerAccounts(rows);
}

const selectHeldCustomerAccountsStatement = sql(
  'accounts_select_held_of_customer',
  `select c.customer_key, ${columns}
   from customers c
   join customer_persons cp on cp.institution_id = c.institution_id and cp.customer_key = c.customer_key
                           and cp.person_key = $2
   left join (holders h
              join accounts a on a.institution_id = h.institution_id and a.account_key = h.account_key
              ${withFigures})
          on h.institution_id = c.institution_id and h.person_key = $2 and a.customer_key = c.customer_key
         and a.category <> 'INTERNAL' and ${isCovered('$4')}
   where c.institution_id = $1 and c.customer_id = $3
   order by a.account_id`,
);

/** Undefined if the membership does not exist, or the person does not belong to it. */
export async function selectHeldCustomerAccounts(
  db: Queryable,
  { personKey, coveredKeys }: AskingPerson,
  customerId: string,
): Promise<CustomerAccounts | undefined> {
  const values = [db.institutionId, personKey, customerId, coveredKeys];
  const { rows } = await db.query<CustomerAccountRow>(selectHeldCustomerAccountsStatement, values);
  return toCustomerAccounts(rows);
}

const accountColumns = `account_id, customer_key, purpose, account_number, di_account_type, category, description,
  currency, closed, delinquent, overdraft_limit, credit_limit, transfer_restriction`;

const insertAccountRowsStatement = sql(
  'accounts_insert',
  `${insertOf('accounts', accountColumns)} with ordinality
   order by ordinality
   returning account_id, account_key`,
);

export async function insertAccountRows(
  db: Queryable,
  accounts: readonly (NewAccount & { category: Category | 'INTERNAL' })[],
): Promise<Map<string, bigint>> {
  const values = [db.institutionId, jsonOf(accounts)];
  const { rows } = await db.query<{ accountId: string; accountKey: bigint }>(
    insertAccountRowsStatement,
    values,
  );
  return new Map(rows.map(({ accountId, accountKey }) => [accountId, accountKey]));
}

const insertLoansStatement = sql(
  'accounts_insert_loans',
  `insert into loans (institution_id, account_key, accrued_interest, fees_due, amount_due)
   select $1, a.account_key, given.accrued_interest, given.fees_due, coalesce(given.amount_due, 0)
   from json_to_recordset($2) as given (account_id text, accrued_interest bigint, fees_due bigint, amount_due bigint)
   join accounts a on a.institution_id = $1 and a.account_id = given.account_id`,
);

export async function insertLoans(db: Queryable, loans: readonly NewAccount[]): Promise<number> {
  return (await db.query(insertLoansStatement, [db.institutionId, jsonOf(loans)])).rowCount;
}

const insertHoldersStatement = sql(
  'accounts_insert_holders',
  `insert into holders (institution_id, account_key, person_key, role, may_pay)
   select $1, account_key, $3, 'PRIMARY', true from unnest($2::bigint[]) as account_key`,
);

/** Makes the person the primary holder of new accounts, with the right to pay. */
export async function insertPrimaryHolder(
  tx: Queryable,
  accountKeys: readonly bigint[],
  personKey: bigint,
): Promise<void> {
  const { rowCount } = await tx.query(insertHoldersStatement, [tx.institutionId, accountKeys, personKey]);
  if (rowCount !== accountKeys.length)
    throw new Error(`${rowCount} of ${accountKeys.length} holders were written`);
}

const existingAccounts = sql(
  'accounts_select_existing_ids',
  'select account_id from accounts where institution_id = $1 and account_id = any ($2::text[])',
);

export async function selectExistingIds(
  db: Queryable,
  accountIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const values = [db.institutionId, accountIds];
  const { rows } = await db.query<{ accountId: string }>(existingAccounts, values);
  return new Set(rows.map(({ accountId }) => accountId));
}
