import { selectExistingIds } from '../../accounts/index.ts';
import { internalAccountId, openMissingAccounts } from '../../core-system/index.ts';
import { Book } from '../../ledger/index.ts';
import type { Transaction } from '../../storage/index.ts';
import type { CoreKind } from './transaction-line.ts';

/** The internal account on the other side of each kind of posting. */
const purposes = {
  CARD: 'CORE_CARD',
  ACH_CREDIT: 'CORE_ACH',
  ACH_DEBIT: 'CORE_ACH',
  CHECK: 'CORE_CHECK',
  FEE: 'CORE_FEE',
  INTEREST: 'CORE_INTEREST',
  DIVIDEND: 'CORE_DIVIDEND',
  ATM: 'CORE_ATM',
  TELLER: 'CORE_TELLER',
  WIRE: 'CORE_WIRE',
  LOAN_PAYMENT: 'CORE_LOAN_PAYMENT',
  TRANSFER: 'CORE_TRANSFER',
  ADJUSTMENT: 'CORE_ADJUSTMENT',
} as const satisfies Record<CoreKind, string>;

export function settlementAccountId(kind: CoreKind, currencyCode: string): string {
  return internalAccountId(purposes[kind], currencyCode);
}

/** Opens the settlement accounts that the institution lacks, for lines that fit the currency of their account. */
export async function openSettlementAccounts(
  tx: Transaction,
  lines: readonly { readonly accountId: string; readonly kind: CoreKind; readonly currencyCode: string }[],
  at: Date,
): Promise<void> {
  const byId = Map.groupBy(lines, ({ kind, currencyCode }) => settlementAccountId(kind, currencyCode));
  const known = await selectExistingIds(tx, [...byId.keys()]);
  const needing = [...byId].flatMap(([accountId, together]) => (known.has(accountId) ? [] : together));
  if (needing.length === 0) return;
  const book = await Book.look(
    tx,
    needing.map(({ accountId }) => accountId),
  );
  const sound = needing.filter(
    ({ accountId, currencyCode }) => book.find(accountId)?.currency === currencyCode,
  );
  const wanted = new Map(
    sound.map(({ kind, currencyCode }) => [
      settlementAccountId(kind, currencyCode),
      { purpose: purposes[kind], currency: currencyCode },
    ]),
  );
  await openMissingAccounts(tx, [...wanted.values()], at);
}
