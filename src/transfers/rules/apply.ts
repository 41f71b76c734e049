import { type Book, type LoanPaymentOption, unbounded } from '../../ledger/index.ts';
import type { AccountFacts } from './accounts/account.ts';
import { type AskedPayment, boundsOf, type LoanPayment, splitPayment } from './accounts/loans.ts';
import type { Judgement } from './decide.ts';
import type { Ground } from './facts.ts';

/** Applies a judgement without a failure to the book and the counters. Returns the parts of a payment on a loan. */
export function apply(
  { amountMinor, from, to, usages, pending, paymentOption }: Judgement,
  postingKey: bigint,
  { book, counters }: Pick<Ground, 'book' | 'counters'>,
): LoanPayment | null {
  if (from === undefined || to === undefined)
    throw new Error('transfers: a judgement without accounts cannot be applied');
  for (const usage of usages) counters.count(usage, amountMinor, pending?.heldFor === 'REVIEW');
  const option = paymentOption ?? 'DEFAULT';
  const [out, into] =
    pending === null
      ? [{ posted: -amountMinor }, { posted: amountMinor }]
      : [{ debitsPending: amountMinor }, { creditsPending: amountMinor }];
  const parts = pending === null ? splitOf(to, { amountMinor, option }, book) : null;
  book.move(
    postingKey,
    pending === null ? 'TRANSFER' : 'HOLD',
    { accountId: from.accountId, change: out, bounds: boundsOf(from) },
    { accountId: to.accountId, change: into, bounds: boundsOf(to, option) },
  );
  return parts && takeOff(to, parts, book);
}

interface HeldTransfer {
  readonly transferKey: bigint;
  readonly fromAccountId: string;
  readonly toAccountId: string;
  readonly amountMinor: bigint;
}

/** Posts a hold. The order was decided when it was held, so no bound applies now. */
export function postHeld(
  transfer: HeldTransfer & { readonly paymentOption: LoanPaymentOption | null },
  to: AccountFacts,
  book: Book,
): LoanPayment | null {
  const { transferKey, fromAccountId, amountMinor, paymentOption } = transfer;
  const parts = splitOf(to, { amountMinor, option: paymentOption ?? 'DEFAULT' }, book);
  book.move(
    transferKey,
    'TRANSFER',
    {
      accountId: fromAccountId,
      change: { posted: -amountMinor, debitsPending: -amountMinor },
      bounds: unbounded,
    },
    {
      accountId: to.accountId,
      change: { posted: amountMinor, creditsPending: -amountMinor },
      bounds: unbounded,
    },
  );
  return parts && takeOff(to, parts, book);
}

export function releaseHeld(transfer: HeldTransfer, book: Book): void {
  const { transferKey, fromAccountId, toAccountId, amountMinor } = transfer;
  book.move(
    transferKey,
    'RELEASE',
    { accountId: fromAccountId, change: { debitsPending: -amountMinor }, bounds: unbounded },
    { accountId: toAccountId, change: { creditsPending: -amountMinor }, bounds: unbounded },
  );
}

function splitOf(to: AccountFacts, payment: AskedPayment, book: Book) {
  return to.loan && splitPayment(payment, to.loan, book.require(to.accountId));
}

/** Subtracts a payment's parts from the dues, so that the next order of the batch sees the rest. */
function takeOff(to: AccountFacts, parts: NonNullable<ReturnType<typeof splitOf>>, book: Book): LoanPayment {
  return changeDues(to, book, {
    toFees: parts.toFeesMinor,
    toInterest: parts.toInterestMinor,
    toPrincipal: parts.toPrincipalMinor,
    toDue: parts.toAmountDueMinor,
  });
}

/** Subtracts a payment's parts from the dues of a loan; the parts are negative if a reversal gives them back. */
export function changeDues(
  account: AccountFacts,
  book: Book,
  parts: Omit<LoanPayment, 'accountKey' | 'seq' | 'meetsDue'>,
): LoanPayment {
  const { loan } = account;
  if (loan === null) throw new Error('transfers: only a loan has dues');
  loan.fees -= parts.toFees;
  loan.interest -= parts.toInterest;
  loan.amountDue -= parts.toDue;
  const meetsDue = parts.toDue > 0n && loan.amountDue === 0n;
  return { accountKey: account.accountKey, seq: book.require(account.accountId).seq, meetsDue, ...parts };
}
