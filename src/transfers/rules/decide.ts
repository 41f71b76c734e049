import type { Actor } from '../../institutions/index.ts';
import {
  type Book,
  currencyDecimals,
  type LoanPaymentOption,
  roomIn,
  roomOut,
  toMinor,
  unbounded,
} from '../../ledger/index.ts';
import type { Facts } from '../desk/facts.ts';
import type { LoanPayment } from '../loan-queries.ts';
import type { AccountFacts } from '../queries.ts';
import { mayPayFrom, mayReceive, paysOut, visibleDestination, visibleSource } from './authority.ts';
import { contributionLimitCents, contributionYear } from './contributions.ts';
import { type Counters, contributionKey, exceededLimit, least, type Use, usesOf } from './limits.ts';
import { boundsOf, optionRoom, splitPayment } from './loans.ts';
import { holdTerms, type PendingTerms, paymentOptionsOf, policyFor } from './policies.ts';
import type { ExceededLimit, FailureCode, SubmittedOrder, TransferType } from './transfer.ts';
import { deriveTransferType } from './transfer-type.ts';

export interface Judgement {
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly transferType: TransferType | undefined;
  /** The accounts, where the caller may see them. */
  readonly from: AccountFacts | undefined;
  readonly to: AccountFacts | undefined;
  readonly paymentOption: LoanPaymentOption | null;
  readonly previousYearContribution: boolean | null;
  readonly failure: Failure | null;
  /** What it counts against; nothing when it failed. */
  readonly uses: readonly Use[];
  /** Null: it posts at once. */
  readonly pending: PendingTerms | null;
}

export interface Failure {
  readonly code: FailureCode;
  readonly detail: string;
  /** With `limit_exceeded`. */
  readonly limit?: ExceededLimit | null;
}

export type Malformed = { readonly malformed: true; readonly pointer: string; readonly detail: string };

/** A way that money can take, whatever the amount: two accounts, a type, and what binds an amount on it. */
export interface Way {
  readonly from: AccountFacts;
  readonly to: AccountFacts;
  readonly transferType: TransferType;
  readonly paymentOption: LoanPaymentOption | null;
  readonly previousYearContribution: boolean | null;
  readonly uses: readonly Use[];
}

/**
 * One order against the accounts as the orders before it left them. The checks stand in their documented order of
 * precedence. Changes nothing, so that a dry run can ask the same; `apply` does it.
 *
 * Needs the accounts in the book and the facts read after the locks. No I/O, no clock.
 */
export function judge(
  order: SubmittedOrder,
  facts: Facts,
  book: Book,
  counters: Counters,
): Judgement | Malformed {
  const { actor } = order;
  const from = visibleSource(actor, order.fromAccountId, facts);
  const to = visibleDestination(actor, order.toAccountId, facts);

  const currency = order.currencyCode ?? from?.currency ?? facts.settings.institution.currency;
  if (currencyDecimals(currency) === undefined) {
    return { malformed: true, pointer: '/currencyCode', detail: 'Must be an ISO 4217 currency code.' };
  }
  const amountMinor = toMinor(order.amount, currency);
  if (typeof amountMinor !== 'bigint') {
    return { malformed: true, pointer: '/amount', detail: amountMinor.invalid };
  }

  const way = findWay({ ...order, currency }, from, to, facts);
  const resolved = { amountMinor, currency, from, to };
  if ('code' in way) {
    const derived = from && to && deriveTransferType(actor, from, to, facts);
    return {
      ...resolved,
      transferType: order.transferType ?? derived,
      paymentOption: order.paymentOption ?? (derived === 'LOAN_PAYMENT' ? 'DEFAULT' : null),
      previousYearContribution: order.previousYearContribution,
      failure: way,
      uses: [],
      pending: null,
    };
  }
  const bound = boundsOn(way, book, counters).find(({ room }) => room !== null && amountMinor > room);
  const { transferType, paymentOption, previousYearContribution } = way;
  const policy = policyFor(facts.settings.policies, transferType, currency);
  return {
    ...resolved,
    transferType,
    paymentOption,
    previousYearContribution,
    failure: bound ? failureOf(bound, way, counters, actor, facts) : null,
    uses: bound ? [] : way.uses,
    pending: bound
      ? null
      : holdTerms(
          policy,
          amountMinor,
          facts.at,
          facts.settings.calendar,
          isTotalAbove(way.uses, counters, amountMinor),
        ),
  };
}

function isTotalAbove(uses: readonly Use[], counters: Counters, amountMinor: bigint): boolean {
  return uses.some((use) => {
    const headroom = counters.unreviewedHeadroom(use);
    return headroom !== null && amountMinor > headroom;
  });
}

/** The way between two accounts, or the first reason why there is none. */
export function findWay(
  asked: Pick<SubmittedOrder, 'actor' | 'transferType' | 'paymentOption' | 'previousYearContribution'> & {
    readonly currency: string;
  },
  from: AccountFacts | undefined,
  to: AccountFacts | undefined,
  facts: Facts,
): Way | Failure {
  const { actor, currency } = asked;
  const refused = (code: FailureCode, detail: string): Failure => ({ code, detail });
  if (from === undefined || to === undefined) {
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
  if (!mayReceive(to)) {
    return refused('account_restricted', 'The destination account does not allow this payment.');
  }
  if (from.currency !== currency || to.currency !== currency) {
    return refused('currency_mismatch', 'Source, destination and order must agree on the currency.');
  }
  const transferType = deriveTransferType(actor, from, to, facts);
  if (asked.transferType !== null && asked.transferType !== transferType) {
    return refused('transfer_type_mismatch', `Between these accounts a transfer is of type ${transferType}.`);
  }
  if (asked.paymentOption !== null && transferType !== 'LOAN_PAYMENT') {
    return refused('transfer_type_mismatch', `A ${transferType} has no paymentOption.`);
  }
  if (asked.previousYearContribution === true && transferType !== 'IRA_CONTRIBUTION') {
    return refused('transfer_type_mismatch', `A ${transferType} counts for no year.`);
  }

  const paymentOption = transferType === 'LOAN_PAYMENT' ? (asked.paymentOption ?? 'DEFAULT') : null;
  const policy = policyFor(facts.settings.policies, transferType, currency);
  const offered = to.loan === null ? ['DEFAULT'] : paymentOptionsOf(policy);
  if (paymentOption !== null && !offered.includes(paymentOption)) {
    return refused('account_restricted', `The destination account does not take ${paymentOption}.`);
  }
  const previousYearContribution =
    transferType === 'IRA_CONTRIBUTION' ? (asked.previousYearContribution ?? false) : null;
  const uses = usesOf(facts.limits, { actor, from, transferType, currency, day: facts.day });
  if (previousYearContribution !== null && currency === 'USD') {
    uses.push(contributionUse(to, previousYearContribution, facts));
  }
  return { from, to, transferType, paymentOption, previousYearContribution, uses };
}

/** Everything that binds an amount on a way, in order of precedence. `room` is the most that it may be; null: no bound. */
export function boundsOn(
  way: Way,
  book: Book,
  counters: Counters,
): (Failure & { readonly room: bigint | null })[] {
  const { from, to, paymentOption, uses } = way;
  const [source, destination] = [book.require(from.accountId), book.require(to.accountId)];
  const room = (some: readonly Use[]) => some.map((use) => counters.room(use)).reduce(least, null);
  const option = paymentOption ?? 'DEFAULT';
  return [
    {
      code: 'limit_exceeded',
      detail: 'The transfer would exceed a limit of the institution.',
      room: room(uses.filter((use) => !isContribution(use))),
    },
    {
      code: 'exceeds_payoff',
      detail: 'The amount is more than what is owed on the destination account.',
      room: least(roomIn(destination, boundsOf(to, option)), optionRoom(to, option)),
    },
    {
      code: 'exceeds_contribution_limit',
      detail: 'The contribution is more than may still be made for that year.',
      room: room(uses.filter(isContribution)),
    },
    {
      code: 'insufficient_funds',
      detail: 'The source account has less available than the amount.',
      room: roomOut(source, boundsOf(from)),
    },
  ];
}

/** What a bound refuses by; with the limit where it is one. */
export function failureOf(
  { code, detail }: Failure,
  { uses }: Pick<Way, 'uses'>,
  counters: Counters,
  actor: Actor,
  { settings }: Facts,
): Failure {
  if (code !== 'limit_exceeded') return { code, detail };
  return {
    code,
    detail,
    limit: exceededLimit(
      uses.filter((use) => !isContribution(use)),
      counters,
      actor,
      settings.institution.timeZone,
    ),
  };
}

function isContribution({ limitKey }: Use): boolean {
  return limitKey === contributionKey;
}

/** The yearly limit across all of the owner's IRAs; nothing may be contributed where nobody is the owner. */
function contributionUse({ owner }: AccountFacts, previousYear: boolean, facts: Facts): Use {
  const { contributionLimits, calendar } = facts.settings;
  const year = contributionYear(facts.at, calendar.timeZone, previousYear, contributionLimits);
  const name = { limitKey: contributionKey, periodStart: taxYearStart(facts.day, previousYear), limit: null };
  // Nobody's contributions are counted nowhere.
  if (owner === null) {
    return {
      ...name,
      subjectKey: 0n,
      maxPerTransfer: 0n,
      maxAmount: null,
      maxCount: null,
      reviewAbove: null,
    };
  }
  const maxAmount = year === null ? 0n : contributionLimitCents(year, owner.birthDate, contributionLimits);
  return {
    ...name,
    subjectKey: owner.personKey,
    maxPerTransfer: null,
    maxAmount,
    maxCount: null,
    reviewAbove: null,
  };
}

/** The first day of the year that a contribution on a day counts for. */
export function taxYearStart(day: string, previousYear: boolean): string {
  return `${Number(day.slice(0, 4)) - (previousYear ? 1 : 0)}-01-01`;
}

/** Does to the book and the counters what a judgement without a failure says; answers how a loan was paid by it. */
export function apply(
  { amountMinor, from, to, uses, pending, paymentOption }: Judgement,
  postingKey: bigint,
  book: Book,
  counters: Counters,
): LoanPayment | null {
  if (from === undefined || to === undefined)
    throw new Error('transfers: what has no accounts cannot be applied');
  for (const use of uses) counters.count(use, amountMinor, pending?.heldFor === 'REVIEW');
  const option = paymentOption ?? 'DEFAULT';
  const [out, into] =
    pending === null
      ? [{ posted: -amountMinor }, { posted: amountMinor }]
      : [{ debitsPending: amountMinor }, { creditsPending: amountMinor }];
  const parts = pending === null ? loanParts(to, amountMinor, option, book) : null;
  book.move(
    postingKey,
    pending === null ? 'TRANSFER' : 'HOLD',
    { accountId: from.accountId, change: out, bounds: boundsOf(from) },
    { accountId: to.accountId, change: into, bounds: boundsOf(to, option) },
  );
  return parts && takeOff(to, parts, book);
}

/** Posts what was held. It was decided when it was held: no bound binds it now. */
export function postHeld(
  transfer: { readonly amountMinor: bigint; readonly paymentOption: LoanPaymentOption | null },
  from: AccountFacts,
  to: AccountFacts,
  postingKey: bigint,
  book: Book,
): LoanPayment | null {
  const { amountMinor, paymentOption } = transfer;
  const parts = loanParts(to, amountMinor, paymentOption ?? 'DEFAULT', book);
  book.move(
    postingKey,
    'TRANSFER',
    {
      accountId: from.accountId,
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

export function releaseHeld(
  amountMinor: bigint,
  fromAccountId: string,
  toAccountId: string,
  postingKey: bigint,
  book: Book,
): void {
  book.move(
    postingKey,
    'RELEASE',
    { accountId: fromAccountId, change: { debitsPending: -amountMinor }, bounds: unbounded },
    { accountId: toAccountId, change: { creditsPending: -amountMinor }, bounds: unbounded },
  );
}

function loanParts(to: AccountFacts, amountMinor: bigint, option: LoanPaymentOption, book: Book) {
  return to.loan && splitPayment(amountMinor, option, to.loan, book.require(to.accountId));
}

/** Takes a payment's parts off what is due, so that the next order of the batch sees the rest. */
function takeOff(
  to: AccountFacts,
  parts: NonNullable<ReturnType<typeof loanParts>>,
  book: Book,
): LoanPayment {
  return changeDues(to, book, {
    toFees: parts.toFeesMinor,
    toInterest: parts.toInterestMinor,
    toPrincipal: parts.toPrincipalMinor,
    toDue: parts.toAmountDueMinor,
  });
}

/** Changes what is due on a loan by a payment's parts, negative where a reversal gives them back. */
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

/** The fields in which an order differs from the transfer that has its id; a field left out never differs. */
export function differences(
  order: SubmittedOrder,
  first: {
    readonly fromAccountId: string;
    readonly toAccountId: string;
    readonly amountMinor: bigint;
    readonly currencyCode: string;
    readonly transferType: TransferType | undefined;
    readonly paymentOption: LoanPaymentOption | null;
    readonly previousYearContribution: boolean | null;
    readonly memo: string | null;
  },
): string[] {
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

/** Who sees a transfer: who ordered it and, unless it failed, the holders of its source; a client all of them. */
export function maySee(
  actor: Actor,
  transfer: { readonly userKey: bigint | null; readonly status: string; readonly sourceHeld: boolean },
): boolean {
  if (actor.kind === 'client') return true;
  return transfer.userKey === actor.userKey || (transfer.status !== 'FAILED' && transfer.sourceHeld);
}
