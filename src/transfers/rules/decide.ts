import type { Actor } from '../../institutions/index.ts';
import {
  currencyDecimals,
  headroomIn,
  headroomOut,
  type LoanPaymentOption,
  toMinor,
} from '../../ledger/index.ts';
import type { AccountFacts } from './accounts/account.ts';
import { accountRefusal } from './accounts/account-refusal.ts';
import { mayPayFrom, visibleDestination, visibleSource } from './accounts/authority.ts';
import { boundsOf, optionHeadroom } from './accounts/loans.ts';
import { contributionLimitCents, contributionYear } from './controls/contributions.ts';
import { type CorePath, corePathOf, coreUnavailable, standInCap } from './controls/core-path.ts';
import {
  type Counters,
  contributionKey,
  exceededLimit,
  type LimitUsage,
  least,
  usagesOf,
} from './controls/limits.ts';
import { holdTerms, type PendingTerms, paymentOptionsOf, policyFor } from './controls/policies.ts';
import { declinedByScreening, type Screening, screeningOf } from './controls/screening.ts';
import type { Facts, Ground } from './facts.ts';
import type { Failure } from './failure.ts';
import type { FailureCode, SubmittedOrder, TransferType } from './transfer.ts';
import { deriveTransferType } from './transfer-type.ts';

export interface Judgement {
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly transferType: TransferType | undefined;
  /** The accounts; undefined if the caller may not see them. */
  readonly from: AccountFacts | undefined;
  readonly to: AccountFacts | undefined;
  readonly paymentOption: LoanPaymentOption | null;
  readonly previousYearContribution: boolean | null;
  readonly failure: Failure | null;
  /** The limits that it counts against; none if it failed. */
  readonly usages: readonly LimitUsage[];
  /** Null: the transfer posts at once. */
  readonly pending: PendingTerms | null;
  /** Null: the order is not screened. */
  readonly screening: Screening | null;
  /** The path to the core, unless a review or a cut-off comes first. Null if the institution's own ledger is the record. */
  readonly core: CorePath | null;
}

export type Malformed = { readonly malformed: true; readonly pointer: string; readonly detail: string };

/** A path of any amount: two accounts, a transfer type, and the limits that bind an amount on it. */
export interface TransferPath {
  readonly from: AccountFacts;
  readonly to: AccountFacts;
  readonly transferType: TransferType;
  readonly paymentOption: LoanPaymentOption | null;
  readonly previousYearContribution: boolean | null;
  readonly usages: readonly LimitUsage[];
}

/**
 * Judges one order against the accounts as the earlier orders of the batch left them. The checks stand in their documented
 * order of precedence. It changes nothing, so a dry run can use it too; `apply` makes the changes.
 *
 * Needs the accounts in the book, and facts that were read after the locks. No I/O, no clock.
 */
export function judge(order: SubmittedOrder, ground: Ground): Judgement | Malformed {
  const { facts, counters } = ground;
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

  const path = findPath({ ...order, currency, from, to }, facts);
  const resolved = { amountMinor, currency, from, to };
  if ('code' in path) {
    const derived = from && to && deriveTransferType({ actor, from, to }, facts);
    return {
      ...resolved,
      transferType: order.transferType ?? derived,
      paymentOption: order.paymentOption ?? (derived === 'LOAN_PAYMENT' ? 'DEFAULT' : null),
      previousYearContribution: order.previousYearContribution,
      failure: path,
      usages: [],
      pending: null,
      screening: order.screening ?? null,
      core: null,
    };
  }
  const bound = capsOn(path, ground).find(({ headroom }) => headroom !== null && amountMinor > headroom);
  const { transferType, paymentOption, previousYearContribution } = path;
  const policy = policyFor(facts.settings.policies, transferType, currency);
  const screening = screeningOf(order.screening ?? null, facts.settings.screening, resolved);
  const judged = { ...resolved, transferType, paymentOption, previousYearContribution, screening };
  const refused = (failure: Failure) => ({ ...judged, failure, usages: [], pending: null, core: null });
  if (bound) return refused(failureOf(bound, path, { counters, actor, facts }));
  if (screening?.verdict === 'DECLINE') return refused(declinedByScreening);
  const core = corePathOf({ ...path, amountMinor }, ground);
  const hold = holdTerms(policy, facts.settings.calendar, {
    amountMinor,
    at: facts.at,
    isTotalAbove: isTotalAbove(path.usages, counters, amountMinor),
    isHeldByScreening: screening?.verdict === 'HOLD',
    screening: facts.settings.screening,
  });
  if (hold !== null) return { ...judged, failure: null, usages: path.usages, pending: hold, core };
  const usages = core === null ? path.usages : [...path.usages, ...core.usages];
  return { ...judged, failure: null, usages, pending: core?.terms ?? null, core };
}

/** Whether the amount brings a total of its limits above a threshold of review. */
export function isTotalAbove(
  usages: readonly LimitUsage[],
  counters: Counters,
  amountMinor: bigint,
): boolean {
  return usages.some((usage) => {
    const headroom = counters.unreviewedHeadroom(usage);
    return headroom !== null && amountMinor > headroom;
  });
}

/** The sentence for a loan that does not take an option. */
export function optionRefusal(paymentOption: LoanPaymentOption | null): string {
  return `The destination account does not take ${paymentOption}.`;
}

/** The path between two accounts, or the first reason why there is none. */
export function findPath(
  asked: Pick<SubmittedOrder, 'actor' | 'transferType' | 'paymentOption' | 'previousYearContribution'> & {
    readonly currency: string;
    readonly from: AccountFacts | undefined;
    readonly to: AccountFacts | undefined;
  },
  facts: Facts,
): TransferPath | Failure {
  const { actor, currency, from, to } = asked;
  const refused = (code: FailureCode, detail: string): Failure => ({ code, detail });
  if (from === undefined || to === undefined) {
    return refused('account_not_found', 'The source or the destination account does not exist.');
  }
  if (from.accountKey === to.accountKey) {
    return refused('same_account', 'Source and destination are the same account.');
  }
  const refusal = accountRefusal('order', { from, to, mayPay: mayPayFrom(actor, from, facts) });
  if (refusal !== null) return refusal;
  if (from.currency !== currency || to.currency !== currency) {
    return refused('currency_mismatch', 'Source, destination and order must agree on the currency.');
  }
  const transferType = deriveTransferType({ actor, from, to }, facts);
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
    return refused('account_restricted', optionRefusal(paymentOption));
  }
  const previousYearContribution =
    transferType === 'IRA_CONTRIBUTION' ? (asked.previousYearContribution ?? false) : null;
  const usages = usagesOf(facts.limits, { actor, from, transferType, currency, day: facts.day });
  if (previousYearContribution !== null && currency === 'USD') {
    usages.push(contributionUse(to, previousYearContribution, facts));
  }
  return { from, to, transferType, paymentOption, previousYearContribution, usages };
}

/** The caps on an amount on a path, in order of precedence. `headroom` is the most that it may be; null: no cap. */
export function capsOn(
  path: TransferPath,
  ground: Ground,
): (Failure & { readonly headroom: bigint | null })[] {
  const { book, counters } = ground;
  const { from, to, paymentOption, usages } = path;
  const [source, destination] = [book.require(from.accountId), book.require(to.accountId)];
  const headroom = (some: readonly LimitUsage[]) =>
    some.map((usage) => counters.headroom(usage)).reduce(least, null);
  const option = paymentOption ?? 'DEFAULT';
  return [
    {
      code: 'limit_exceeded',
      detail: 'The transfer would exceed a limit of the institution.',
      headroom: headroom(usages.filter((usage) => !isContribution(usage))),
    },
    {
      code: 'exceeds_payoff',
      detail: 'The amount is more than the debt on the destination account.',
      headroom: least(headroomIn(destination, boundsOf(to, option)), optionHeadroom(to, option)),
    },
    {
      code: 'exceeds_contribution_limit',
      detail: 'The contribution is more than may still be made for that year.',
      headroom: headroom(usages.filter(isContribution)),
    },
    {
      code: 'insufficient_funds',
      detail: 'The source account has less available than the amount.',
      headroom: headroomOut(source, boundsOf(from)),
    },
    { ...coreUnavailable, headroom: standInCap(path, ground) },
  ];
}

/** The failure of an amount above a cap; with the limit if the cap is one. */
export function failureOf(
  { code, detail }: Failure,
  { usages }: Pick<TransferPath, 'usages'>,
  { counters, actor, facts }: { readonly counters: Counters; readonly actor: Actor; readonly facts: Facts },
): Failure {
  if (code !== 'limit_exceeded') return { code, detail };
  return {
    code,
    detail,
    limit: exceededLimit(
      usages.filter((usage) => !isContribution(usage)),
      counters,
      { actor, timeZone: facts.settings.institution.timeZone },
    ),
  };
}

function isContribution({ limitKey }: LimitUsage): boolean {
  return limitKey === contributionKey;
}

/** The yearly limit across all IRAs of the owner; an IRA without an owner takes no contribution. */
function contributionUse({ owner }: AccountFacts, previousYear: boolean, facts: Facts): LimitUsage {
  const { contributionLimits, calendar } = facts.settings;
  const year = contributionYear(
    { at: facts.at, timeZone: calendar.timeZone, previousYear },
    contributionLimits,
  );
  const name = { limitKey: contributionKey, periodStart: taxYearStart(facts.day, previousYear), limit: null };
  // Without an owner there is no counter, and the cap is zero.
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

/** The first day of the tax year of a contribution. */
export function taxYearStart(day: string, previousYear: boolean): string {
  return `${Number(day.slice(0, 4)) - (previousYear ? 1 : 0)}-01-01`;
}
