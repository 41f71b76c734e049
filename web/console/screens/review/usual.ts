import { compareAmounts } from '../../../design/format/money.ts';
import type { FoundTransfer, WaitingTransfer } from '../../operations.ts';

interface UsualTransfers {
  /** Those of the source account that completed, in the currency of the transfer. */
  readonly completed: number;
  readonly largest: string;
  /** At least as large as the transfer. */
  readonly larger: number;
  readonly toDestination: number;
}

/** The last transfers of an account, in and out, beside one that waits there. */
export function usualOf(
  transfer: Pick<WaitingTransfer, 'id' | 'fromAccountId' | 'toAccountId' | 'amount' | 'currencyCode'>,
  last: readonly FoundTransfer[],
): UsualTransfers {
  const before = last.filter(
    (one) =>
      one.id !== transfer.id &&
      one.status === 'COMPLETED' &&
      one.fromAccountId === transfer.fromAccountId &&
      one.currencyCode === transfer.currencyCode,
  );
  const amounts = before.map(({ amount }) => amount).toSorted(compareAmounts);
  return {
    completed: before.length,
    largest: amounts.at(-1) ?? '0',
    larger: amounts.filter((amount) => compareAmounts(amount, transfer.amount) >= 0).length,
    toDestination: before.filter(({ toAccountId }) => toAccountId === transfer.toAccountId).length,
  };
}
