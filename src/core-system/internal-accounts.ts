import { insertAccounts, type NewAccount, selectExistingIds } from '../accounts/index.ts';
import type { Transaction } from '../storage/index.ts';

/** Every institution has these from its first import. */
const purposes = ['FUNDING', 'CORE_SETTLEMENT', 'SUSPENSE'] as const;
type Purpose = NonNullable<NewAccount['purpose']>;

/** The internal accounts of the institution, one per purpose and currency. An extract may not use their ids. */
export function internalAccountId(purpose: Purpose, currency: string): string {
  return `internal:${purpose.toLowerCase().replaceAll('_', '-')}:${currency}`;
}

export async function openInternalAccounts(
  tx: Transaction,
  currencies: readonly string[],
  at: Date,
): Promise<void> {
  const all = currencies.flatMap((currency) => purposes.map((purpose) => ({ purpose, currency })));
  await openMissingAccounts(tx, all, at);
}

/** Opens those of the accounts that the institution does not have. */
export async function openMissingAccounts(
  tx: Transaction,
  accounts: readonly { readonly purpose: Purpose; readonly currency: string }[],
  at: Date,
): Promise<void> {
  const wanted = accounts.map(({ purpose, currency }) => ({
    purpose,
    currency,
    accountId: internalAccountId(purpose, currency),
  }));
  const known = await selectExistingIds(
    tx,
    wanted.map((account) => account.accountId),
  );
  const missing = wanted.filter((account) => !known.has(account.accountId));
  await insertAccounts(
    tx,
    missing.map(({ purpose, currency, accountId }) => ({
      accountId,
      customerKey: null,
      purpose,
      accountNumber: accountId,
      diAccountType: 'GENERAL_LEDGER_ACCOUNT',
      description: `${purpose} ${currency}`,
      currency,
      closed: false,
      delinquent: false,
      overdraftLimit: 0n,
      creditLimit: 0n,
      accruedInterest: 0n,
      feesDue: 0n,
    })),
    at,
  );
}
