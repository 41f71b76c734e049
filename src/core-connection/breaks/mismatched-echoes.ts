import type { Book } from '../../ledger/index.ts';
import type { Outcome } from '../intake/batch.ts';
import type { TransactionLine } from '../intake/transaction-line.ts';
import type { EchoedTransferRow } from '../intake/transaction-queries.ts';
import type { FoundBreak } from './break.ts';
import { moneyOf } from './decide-breaks.ts';

/** The breaks of the echoes whose amount is not that of their transfer. The lines themselves are refused. */
export function mismatchedEchoes(
  lines: readonly TransactionLine[],
  outcomes: readonly Outcome[],
  { book, echoed }: { readonly book: Book; readonly echoed: readonly EchoedTransferRow[] },
): FoundBreak[] {
  return lines.flatMap((line, place): FoundBreak[] => {
    const outcome = outcomes[place];
    if (outcome?.result !== 'refused' || outcome.code !== 'amount_mismatch') return [];
    const { id, accountId, transferId, amountMinor, currencyCode: currency, postedAt } = line;
    const transfer = echoed.find((row) => row.transferId === transferId && row.accountId === accountId);
    if (transfer === undefined) return [];
    const moved = transfer.amount ?? 0n;
    return [
      {
        class: 'AMOUNT_MISMATCH',
        subject: `echo:${transferId}:${accountId}`,
        accountId,
        accountKey: book.require(accountId).accountKey,
        accountSeq: null,
        // The core's id stands in the note: another id may be the right echo.
        coreId: null,
        transferKey: transfer.transferKey,
        currency,
        differenceMinor: amountMinor - moved,
        asOf: null,
        note: `The core posted ${moneyOf(amountMinor, currency)} with ${id} at ${postedAt.toISOString()} as the echo of ${transferId}, which moved ${moneyOf(moved, currency)} on this account.`,
      },
    ];
  });
}
