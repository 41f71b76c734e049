import { openBalances } from '../ledger/index.ts';
import type { Queryable } from '../storage/index.ts';
import { categoryOf } from './account-types.ts';
import { insertAccountRows, insertLoans } from './queries.ts';

/** An account as its core knows it, without its money. Amounts are minor units of `currency`, none negative. */
export interface NewAccount {
  readonly accountId: string;
  /** Whose membership it is under; null for the institution's own accounts, which have a purpose instead. */
  readonly customerKey: bigint | null;
  readonly purpose: 'FUNDING' | 'CORE_SETTLEMENT' | 'SUSPENSE' | null;
  /** A card's last four digits, never more. */
  readonly accountNumber: string;
  readonly diAccountType: string;
  readonly description: string;
  readonly currency: string;
  readonly closed: boolean;
  readonly delinquent: boolean;
  /** DEPOSIT only. */
  readonly overdraftLimit: bigint;
  /** CREDIT only. */
  readonly creditLimit: bigint;
  /** LOAN only: what part of the debt is not principal. */
  readonly accruedInterest: bigint;
  readonly feesDue: bigint;
  /** Of a loan: what must be paid for it to be in good standing. */
  readonly amountDue?: bigint | undefined;
  /** EXCLUDE_ALL, EXCLUDE_AS_FROM or EXCLUDE_AS_TO: what transfers the account takes no part in. */
  readonly transferRestriction?: string | null | undefined;
}

/**
 * Opens accounts at a balance of zero, with no entry; money comes to them through the ledger alone.
 * Answers the key of each by its id.
 *
 * Errors: an id that is taken, or values that the schema refuses, come through as the database's; a type that is
 * no DIAccountType, or an account other than a loan with interest or fees, is the caller's mistake and throws.
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
