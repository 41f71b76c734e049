import { type LoanPaymentOption, toMinor } from '../../ledger/index.ts';
import { maySee, type TransferEnds } from './accounts/authority.ts';
import type { Outcome, RepeatedOutcome, SubmittedOrder, Transfer } from './transfer.ts';

/** The transfer that has the id of an order. */
interface FirstTransfer extends Transfer, TransferEnds {
  readonly userKey: bigint | null;
  /** The caller holds its source account. */
  readonly sourceHeld: boolean;
  readonly paymentOption: LoanPaymentOption | null;
  readonly previousYearContribution: boolean | null;
}

/** The outcome of an order whose id is used. */
export function repeated(order: SubmittedOrder, first: FirstTransfer): RepeatedOutcome {
  if (!maySee(order.actor, first)) return { kind: 'id_reused', differs: null };
  const differs = differences(order, first);
  return differs.length > 0 ? { kind: 'id_reused', differs } : { kind: 'replayed', transfer: first };
}

export const reservedId = {
  kind: 'malformed',
  pointer: '/id',
  detail: 'Ids that begin so are reserved.',
} as const satisfies Outcome;

/** The fields in which an order differs from the transfer that has its id. An omitted field never differs. */
function differences(order: SubmittedOrder, first: FirstTransfer): string[] {
  const differs: Readonly<Record<string, boolean>> = {
    fromAccountId: order.fromAccountId !== first.fromAccountId,
    toAccountId: order.toAccountId !== first.toAccountId,
    amount: toMinor(order.amount, first.currencyCode) !== first.amountMinor,
    currencyCode: order.currencyCode !== null && order.currencyCode !== first.currencyCode,
    transferType: order.transferType !== null && order.transferType !== first.transferType,
    paymentOption: order.paymentOption !== null && order.paymentOption !== first.paymentOption,
    previousYearContribution:
      order.previousYearContribution !== null &&
      order.previousYearContribution !== (first.previousYearContribution ?? false),
    memo: order.memo !== null && order.memo !== first.memo,
  };
  return Object.keys(differs).filter((field) => differs[field]);
}
