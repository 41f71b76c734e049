import type { Actor } from '../institutions/index.ts';
import {
  type Book,
  type Bounds,
  currencyDecimals,
  type Refusal,
  splitLoanPayment,
  toMinor,
  unbounded,
} from '../ledger/index.ts';
import { mayPayFrom, paysOut, visibleDestination, visibleSource } from './authority.ts';
import type { Facts } from './facts.ts';
import { type DayCounters, limitsFor } from './limits.ts';
import type { AccountFacts, LoanPayment } from './queries.ts';
import type { FailureCode, SubmittedOrder, TransferType } from './transfer.ts';
import { deriveTransferType } from './transfer-type.ts';

export interface Decision {
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly transferType: TransferType | undefined;
  /** The accounts, where the caller may see them. */
  readonly from: AccountFacts | undefined;
  readonly to: AccountFacts | undefined;
  readonly failure: { readonly code: FailureCode; readonly detail: string } | null;
  readonly loanPayment: LoanPayment | null;
}

export type Malformed = { readonly malformed: true; readonly pointer: string; readonly detail: string };

/**
 * One order against the accounts as the orders before it left them. The checks stand in their documented order of
 * precedence; when none refuses, the posting is applied to the book and counted against its limits.
 *
 * Needs the accounts locked and the facts read after the locks. No I/O, no clock.
 */
export function decide(
  order: SubmittedOrder,
  postingKey: bigint,
  facts: Facts,
  book: Book,
  counters: DayCounters,
): Decision | Malformed {
  const { actor } = order;
  const from = visibleSource(actor, order.fromAccountId, facts);
  const to = visibleDestination(actor, order.toAccountId, facts);

  const currency = order.currencyCode ?? from?.currency ?? facts.defaultCurrency;
  if (currencyDecimals(currency) === undefined) {
    return { malformed: true, pointer: '/currencyCode', detail: 'Must be an ISO 4217 currency code.' };
  }
  const amountMinor = toMinor(order.amount, currency);
  if (typeof amountMinor !== 'bigint') {
    return { malformed: true, pointer: '/amount', detail: amountMinor.invalid };
  }

  const derived = from && to ? deriveTransferType(actor, from, to, facts) : undefined;
  const refused = (code: FailureCode, detail: string): Decision => ({
    amountMinor,
    currency,
    transferType: order.transferType ?? derived,
    from,
    to,
    failure: { code, detail },
    loanPayment: null,
  });

  if (from === undefined || to === undefined || derived === undefined) {
    return refused('account_not_found', 'The source or the destination account does not exist.');
  }
  if (from.accountKey === to.accountKey) {
    return refused('same_account', 'Source and destination are the same account.');
  }
  if (from.closed || to.closed) {
    return refused('account_closed', 'The source or the destination account is closed.');
  }
  if (!paysOut(from) || !mayPayFrom(actor, from, facts)) {
    return refused('account_restricted', 'The source account does not allow this payment.');
  }
  if (from.currency !== currency || to.currency !== currency) {
    return refused('currency_mismatch', 'Source, destination and order must agree on the currency.');
  }
  if (order.transferType !== null && order.transferType !== derived) {
    return refused('transfer_type_mismatch', `Between these accounts a transfer is of type ${derived}.`);
  }
  const limits = limitsFor(facts.limits, {
    actor,
    sourceCustomerKey: from.customerKey,
    transferType: derived,
    currency,
  });
  if (!limits.every(({ limit, subjectKey }) => counters.allows(limit, subjectKey, amountMinor))) {
    return refused('limit_exceeded', 'The transfer would exceed a limit of the institution.');
  }
  const refusal = post(book, postingKey, from, to, amountMinor);
  if (refusal !== null) return refused(...declineOf[refusal]);

  for (const { limit, subjectKey } of limits) counters.count(limit, subjectKey, amountMinor);
  return {
    amountMinor,
    currency,
    transferType: derived,
    from,
    to,
    failure: null,
    loanPayment: payLoan(to, amountMinor, book),
  };
}

const declineOf: Record<Refusal, [FailureCode, string]> = {
  above_ceiling: ['exceeds_payoff', 'The amount is more than what is owed on the destination account.'],
  below_floor: ['insufficient_funds', 'The source account has less available than the amount.'],
};

function post(
  book: Book,
  postingKey: bigint,
  from: AccountFacts,
  to: AccountFacts,
  amountMinor: bigint,
): Refusal | null {
  return book.apply(
    postingKey,
    'TRANSFER',
    { accountId: from.accountId, change: { posted: -amountMinor }, bounds: boundsOf(from) },
    { accountId: to.accountId, change: { posted: amountMinor }, bounds: boundsOf(to) },
  );
}

/** A deposit stops at its overdraft line, a debt at zero: its balance is minus the payoff. */
function boundsOf(account: AccountFacts): Bounds {
  if (account.category === 'LOAN' || account.category === 'CREDIT') return { ...unbounded, ceiling: 0n };
  return { ...unbounded, floor: -account.overdraftLimit };
}

/** Takes the payment's parts off what is due, so that the next order of the batch sees the rest. */
function payLoan(to: AccountFacts, amountMinor: bigint, book: Book): LoanPayment | null {
  if (to.loan === null) return null;
  const parts = splitLoanPayment(amountMinor, to.loan);
  to.loan.fees -= parts.toFees;
  to.loan.interest -= parts.toInterest;
  const seq = book.state(to.accountId)?.seq;
  if (seq === undefined) throw new Error('transfers: a loan was paid outside the book');
  return { accountKey: to.accountKey, seq, ...parts };
}

/** The fields in which an order differs from the transfer that has its id; a field left out never differs. */
export function differences(
  order: SubmittedOrder,
  first: {
    readonly fromAccountId: string;
    readonly toAccountId: string;
    readonly amountMinor: bigint;
    readonly currencyCode: string;
    readonly transferType: TransferType | undefined;
  },
): string[] {
  const differing: string[] = [];
  if (order.fromAccountId !== first.fromAccountId) differing.push('fromAccountId');
  if (order.toAccountId !== first.toAccountId) differing.push('toAccountId');
  if (toMinor(order.amount, first.currencyCode) !== first.amountMinor) differing.push('amount');
  if (order.currencyCode !== null && order.currencyCode !== first.currencyCode)
    differing.push('currencyCode');
  if (order.transferType !== null && order.transferType !== first.transferType)
    differing.push('transferType');
  return differing;
}

/** Who sees a transfer: who ordered it and, unless it failed, the holders of its source; a client all of them. */
export function maySee(
  actor: Actor,
  transfer: { readonly userKey: bigint | null; readonly status: string; readonly sourceHeld: boolean },
): boolean {
  if (actor.kind === 'client') return true;
  return transfer.userKey === actor.userKey || (transfer.status !== 'FAILED' && transfer.sourceHeld);
}
