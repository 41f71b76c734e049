import { type InstitutionId, type Queryable, sql } from '../storage/index.ts';
import type { AccountCategory } from './account-types.ts';
import type { NewAccount } from './insert-accounts.ts';

const insertAccountRowsStatement = sql(
  'accounts_insert',
  `insert into accounts (institution_id, account_id, customer_key, purpose, account_number, di_account_type,
                         category, description, currency, closed, delinquent, overdraft_limit, credit_limit)
   select $1, account_id, customer_key, purpose, account_number, di_account_type,
          category, description, currency, closed, delinquent, overdraft_limit, credit_limit
   from unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
               $9::text[], $10::boolean[], $11::boolean[], $12::bigint[], $13::bigint[])
        with ordinality as given (account_id, customer_key, purpose, account_number, di_account_type, category,
                                  description, currency, closed, delinquent, overdraft_limit, credit_limit, place)
   order by place
   returning account_id as "accountId", account_key as "accountKey"`,
);

export async function insertAccountRows(
  db: Queryable,
  institutionId: InstitutionId,
  accounts: readonly (NewAccount & { category: AccountCategory })[],
): Promise<Map<string, bigint>> {
  const { rows } = await db.query<{ accountId: string; accountKey: bigint }>(insertAccountRowsStatement, [
    institutionId,
    accounts.map((account) => account.accountId),
    accounts.map((account) => account.customerKey),
    accounts.map((account) => account.purpose),
    accounts.map((account) => account.accountNumber),
    accounts.map((account) => account.diAccountType),
    accounts.map((account) => account.category),
    accounts.map((account) => account.description),
    accounts.map((account) => account.currency),
    accounts.map((account) => account.closed),
    accounts.map((account) => account.delinquent),
    accounts.map((account) => account.overdraftLimit),
    accounts.map((account) => account.creditLimit),
  ]);
  return new Map(rows.map(({ accountId, accountKey }) => [accountId, accountKey]));
}

const insertZeroBalancesStatement = sql(
  'accounts_insert_zero_balances',
  `insert into balances (institution_id, account_key, account_id, currency, posted, held_out, held_in, seq, last_at)
   select institution_id, account_key, account_id, currency, 0, 0, 0, 0, $3
   from accounts
   where institution_id = $1 and account_key = any ($2::bigint[])`,
);

export async function insertZeroBalances(
  db: Queryable,
  institutionId: InstitutionId,
  accountKeys: readonly bigint[],
  at: Date,
): Promise<number> {
  const { rowCount } = await db.query(insertZeroBalancesStatement, [institutionId, accountKeys, at]);
  return rowCount;
}

const insertLoansStatement = sql(
  'accounts_insert_loans',
  `insert into loans (institution_id, account_key, accrued_interest, fees_due)
   select $1, a.account_key, given.accrued_interest, given.fees_due
   from unnest($2::text[], $3::bigint[], $4::bigint[]) as given (account_id, accrued_interest, fees_due)
   join accounts a on a.institution_id = $1 and a.account_id = given.account_id`,
);

export async function insertLoans(
  db: Queryable,
  institutionId: InstitutionId,
  loans: readonly NewAccount[],
): Promise<number> {
  const { rowCount } = await db.query(insertLoansStatement, [
    institutionId,
    loans.map((loan) => loan.accountId),
    loans.map((loan) => loan.accruedInterest),
    loans.map((loan) => loan.feesDue),
  ]);
  return rowCount;
}
