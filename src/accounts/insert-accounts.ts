import { openBalances } from '../ledger/index.ts';
import type { Queryable } from '../storage/index.ts';
import type { NewAccount } from './account.ts';
import { categoryOf } from './account-types.ts';
import { insertAccountRows, insertLoans } from './queries.ts';

/**
 * Opens accounts with a balance of zero and no entry; only the ledger moves money to them. Returns the keys by id.
 *
 * Errors of the database come through, for example for a taken id. Throws TypeError for an unknown DIAccountType, and for
 * interest or fees of an account other than a loan.
 */
export async function insertAccounts(
  tx: Queryable,
  accounts: readonly NewAccount[],
  at: Date,
): Promise<Map<string, bigint>> {
  if (accounts.length === 0) return new Map();
  const categorized = accounts.map((account) => ({ ...account, category: categoryFor(account) }));
  const keys = await insertAccountRows(tx, categorized);
  mustBe(accounts.length, keys.size, 'accounts');
  const opened = accounts.flatMap(({ accountId, currency }) => {
    const accountKey = keys.get(accountId);
    return accountKey === undefined ? [] : [{ accountKey, accountId, currency }];
  });
  await openBalances(tx, opened, at);
  const loans = categorized.filter(({ category }) => category === 'LOAN');
  if (loans.length > 0) {
    mustBe(loans.length, await insertLoans(tx, loans), 'loans');
  }
  return keys;
}

function categoryFor(account: NewAccount) {
  const category = categoryOf(account.diAccountType);
  if (category === undefined) throw new TypeError(`${account.diAccountType} is no DIAccountType`);
  if (category !== 'LOAN' && (account.accruedInterest !== 0n || account.feesDue !== 0n)) {
    throw new TypeError('only a loan has interest and fees');
  }
  return category;
}

function mustBe(expected: number, written: number, what: string): void {
  if (written !== expected) throw new Error(`${written} of ${expected} ${what} were written`);
}
