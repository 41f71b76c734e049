import { type BusinessCalendar, type LocalDate, localDate } from '../../institutions/index.ts';
import { Counters, type LimitUsage, usagesOf } from '../rules/controls/limits.ts';
import { holdTerms, type PendingTerms, policyFor } from '../rules/controls/policies.ts';
import type { Screening } from '../rules/controls/screening.ts';
import type { OrderSignIn } from '../rules/controls/step-up.ts';
import { isTotalAbove, optionRefusal } from '../rules/decide.ts';
import type { FailureCode } from '../rules/transfer.ts';
import type { TransferRow } from '../transfer-queries.ts';
import type { BalanceBefore, Counted, SourceRow } from './decision-queries.ts';
import type { RulesThen } from './rules-then.ts';
import type { ApprovalRow, CoreInstructionRow, EntryOfTransferRow } from './show-queries.ts';

/*
 * The checks of an order, in the order in which the rules ask them (`rules/decide.ts`), with the figures of its moment:
 *
 * - stored with the decision: its outcome, the bounds and balances of its entries, the sign-in, the verdict of screening, the exceeded limit;
 * - recomputed as of the decision: the limits and thresholds, from the rules of then and the orders of the period before it;
 * - not kept: no figure is shown. A figure of today never stands for one of then.
 *
 * A recomputed figure that contradicts the stored decision is not shown either.
 */

export const checkNames = [
  'SIGN_IN',
  'ACCOUNTS',
  'STATE',
  'CURRENCY',
  'TYPE',
  'PAYMENT_OPTION',
  'LIMIT',
  'PAYOFF',
  'CONTRIBUTION',
  'FUNDS',
  'STAND_IN',
  'SCREENING',
  'REVIEW_TOTAL',
  'REVIEW',
  'CUT_OFF',
  'CORE',
] as const;
type CheckName = (typeof checkNames)[number];

export const checkOutcomes = ['PASSED', 'REFUSED', 'HELD', 'NOT_ASKED', 'NOT_KNOWN'] as const;
export const checkSources = ['STORED', 'RECOMPUTED', 'NOT_KEPT'] as const;
export const checkFigures = [
  'signInAgeSeconds',
  'used',
  'cap',
  'perTransfer',
  'orders',
  'mostOrders',
  'owed',
  'available',
  'floor',
  'askedMillis',
  'threshold',
  'secondThreshold',
] as const;

/** An amount in minor units, or a number. */
type Figure = { readonly name: (typeof checkFigures)[number] } & (
  | { readonly amountMinor: bigint }
  | { readonly count: number }
);

export interface Check {
  readonly check: CheckName;
  readonly outcome: (typeof checkOutcomes)[number];
  /** Null if it was not asked. */
  readonly source: (typeof checkSources)[number] | null;
  /** With LIMIT and REVIEW_TOTAL, unless no limit bound the order. */
  readonly limit: { readonly subject: string; readonly period: 'DAY' | 'MONTH' | 'TRANSFER' } | null;
  readonly figures: readonly Figure[];
  /** The most that the order could have moved and passed; null: no such bound, or not kept. */
  readonly headroomMinor: bigint | null;
}

/** Everything that is known of a decision. */
export interface Decision {
  readonly transfer: TransferRow;
  readonly entries: readonly EntryOfTransferRow[];
  readonly pending: PendingTerms | undefined;
  readonly approvals: readonly ApprovalRow[];
  readonly screening: Screening | null;
  readonly signIn: OrderSignIn | null;
  readonly core: CoreInstructionRow | null;
  readonly timeZone: string;
  /** Undefined: they are not certain. */
  readonly rules: RulesThen | undefined;
  readonly usages: readonly LimitUsage[];
  readonly counted: readonly Counted[];
  /** For an order that moved nothing. */
  readonly balances: readonly BalanceBefore[];
}

/** The limits that bound an order, by the rules of then. */
export function usagesThen(
  transfer: Pick<TransferRow, 'userKey' | 'transferType' | 'currencyCode' | 'createdAt' | 'reversesKey'>,
  from: SourceRow,
  { rules, timeZone }: { readonly rules: RulesThen; readonly timeZone: string },
): LimitUsage[] {
  const { userKey, transferType, currencyCode: currency, createdAt, reversesKey } = transfer;
  if (transferType === null || reversesKey !== null) return [];
  const actor = userKey === null ? ({ kind: 'client' } as const) : ({ kind: 'member', userKey } as const);
  return usagesOf(rules.limits, { actor, from, transferType, currency, day: localDate(createdAt, timeZone) });
}

export function checksOf(decision: Decision): Check[] {
  const { transfer, entries } = decision;
  const refusing = entries.length > 0 ? undefined : refusingCheck(decision);
  if (entries.length === 0 && refusing === undefined) return [];
  const isReversal = transfer.reversesKey !== null;
  const checks = isReversal
    ? [stored('STATE'), funds(decision), ...coreOf(decision)]
    : [
        ...signInOf(decision),
        ...(['ACCOUNTS', 'STATE', 'CURRENCY', 'TYPE'] as const).map((check) => stored(check)),
        ...(transfer.paymentOption === null ? [] : [stored('PAYMENT_OPTION')]),
        ...limitsOf(decision, refusing),
        ...payoffOf(decision, refusing),
        ...(transfer.transferType === 'IRA_CONTRIBUTION' ? [notKept('CONTRIBUTION')] : []),
        funds(decision),
        ...(refusing === 'STAND_IN' || decision.core?.mode === 'STAND_IN' ? [notKept('STAND_IN')] : []),
        ...screeningOf(decision),
        ...reviewOf(decision),
        ...coreOf(decision),
      ];
  const order = (check: CheckName) => checkNames.indexOf(check);
  if (refusing === undefined) return checks;
  return checks.map((one) => {
    if (order(one.check) > order(refusing)) return notAsked(one.check);
    if (one.check !== refusing || (one.check === 'LIMIT' && one.source === 'RECOMPUTED')) return one;
    return { ...one, outcome: 'REFUSED' };
  });
}

const checkOfCode: Readonly<Partial<Record<FailureCode, CheckName>>> = {
  account_not_found: 'ACCOUNTS',
  same_account: 'ACCOUNTS',
  account_closed: 'STATE',
  account_restricted: 'STATE',
  currency_mismatch: 'CURRENCY',
  transfer_type_mismatch: 'TYPE',
  limit_exceeded: 'LIMIT',
  exceeds_payoff: 'PAYOFF',
  exceeds_contribution_limit: 'CONTRIBUTION',
  insufficient_funds: 'FUNDS',
  core_unavailable: 'STAND_IN',
  transfer_declined: 'SCREENING',
};

function refusingCheck({ transfer }: Decision): CheckName | undefined {
  const { failureCode, failureDetail, paymentOption } = transfer;
  if (failureCode === null) return undefined;
  if (paymentOption !== null && failureDetail === optionRefusal(paymentOption)) return 'PAYMENT_OPTION';
  return checkOfCode[failureCode];
}

const nothing = { limit: null, figures: [], headroomMinor: null } as const;

function stored(check: CheckName, more: Partial<Check> = {}): Check {
  return { check, outcome: 'PASSED', source: 'STORED', ...nothing, ...more };
}

function notKept(check: CheckName, more: Partial<Check> = {}): Check {
  return stored(check, { source: 'NOT_KEPT', ...more });
}

function notAsked(check: CheckName): Check {
  return { check, outcome: 'NOT_ASKED', source: null, ...nothing };
}

function signInOf({ signIn }: Decision): Check[] {
  if (signIn === null) return [];
  const count = Math.round((signIn.checkedAt.getTime() - signIn.signedInAt.getTime()) / 1000);
  return [stored('SIGN_IN', { figures: [{ name: 'signInAgeSeconds', count }] })];
}

/** The counters as they stood before the order. */
function countersOf({ usages, counted }: Pick<Decision, 'usages' | 'counted'>): Counters {
  const rows = usages.flatMap((usage) => {
    const { limitKey, subjectKey, periodStart } = usage;
    const found = counted.find((row) => row.limitKey === limitKey);
    const bounds = { maxAmount: null, maxTransfers: null, reviewed: 0n, reviewAbove: null };
    return found
      ? [{ limitKey, subjectKey, periodStart, amount: found.amount, transfers: found.transfers, ...bounds }]
      : [];
  });
  return new Counters(rows, usages);
}

function limitsOf(decision: Decision, refusing: CheckName | undefined): Check[] {
  const { transfer, rules, usages } = decision;
  const { amountMinor, exceededLimit } = transfer;
  const counters = countersOf(decision);
  const rows = usages.flatMap((usage): Check[] => {
    const figures = figuresOf(usage, decision);
    if (figures.length === 0 || usage.limit === null) return [];
    const headroomMinor = counters.headroom(usage);
    const isAbove = headroomMinor !== null && amountMinor > headroomMinor;
    const outcome = isAbove ? 'REFUSED' : 'PASSED';
    return [
      { check: 'LIMIT', outcome, source: 'RECOMPUTED', limit: nameOf(usage.limit), figures, headroomMinor },
    ];
  });
  const above = rows.filter(({ outcome }) => outcome === 'REFUSED');
  const left = exceededLimit?.remainingMinor ?? null;
  const agrees =
    refusing === 'LIMIT'
      ? above.some(({ headroomMinor }) => left === null || headroomMinor === left)
      : above.length === 0;
  if (rules !== undefined && agrees)
    return rows.length > 0 ? rows : [stored('LIMIT', { source: 'RECOMPUTED' })];
  const limit = exceededLimit ? { subject: exceededLimit.subject, period: exceededLimit.period } : null;
  if (refusing !== 'LIMIT' || limit === null) return [notKept('LIMIT')];
  return [stored('LIMIT', { limit, headroomMinor: left, source: left === null ? 'NOT_KEPT' : 'STORED' })];
}

/** Without the bounds, which are figures. */
function nameOf({ subject, period }: NonNullable<LimitUsage['limit']>): NonNullable<Check['limit']> {
  return { subject, period };
}

function figuresOf(
  { limitKey, maxAmount, maxCount, maxPerTransfer }: LimitUsage,
  { counted }: Decision,
): Figure[] {
  const found = counted.find((row) => row.limitKey === limitKey);
  return [
    ...(maxAmount === null
      ? []
      : [
          { name: 'used', amountMinor: found?.amount ?? 0n } as const,
          { name: 'cap', amountMinor: maxAmount } as const,
        ]),
    ...(maxCount === null
      ? []
      : [
          { name: 'orders', count: found?.transfers ?? 0 } as const,
          { name: 'mostOrders', count: maxCount } as const,
        ]),
    ...(maxPerTransfer === null ? [] : [{ name: 'perTransfer', amountMinor: maxPerTransfer } as const]),
  ];
}

/** The first entry of an account for the order: that of its decision. */
function decidingEntry({ entries }: Decision, accountKey: bigint | null): EntryOfTransferRow | undefined {
  return entries.find((entry) => entry.accountKey === accountKey);
}

function payoffOf(decision: Decision, refusing: CheckName | undefined): Check[] {
  const { transfer, balances } = decision;
  const { amountMinor, paymentOption, toKey } = transfer;
  const entry = decidingEntry(decision, toKey);
  if (entry !== undefined) {
    const { ceiling, postedAfter, creditsPendingAfter } = entry;
    if (ceiling === null) return [];
    const before = postedAfter + creditsPendingAfter - amountMinor;
    // The part of the debt that an option may pay is not stored.
    const headroomMinor = paymentOption === 'INTEREST_ONLY' ? null : ceiling - before;
    return [stored('PAYOFF', { figures: [{ name: 'owed', amountMinor: -before }], headroomMinor })];
  }
  const isLoan = paymentOption !== null;
  if (refusing !== 'PAYOFF') return isLoan ? [notKept('PAYOFF')] : [];
  const balance = balances.find(({ accountKey }) => accountKey === toKey);
  if (balance === undefined) return [notKept('PAYOFF')];
  const amount = -(balance.posted + balance.creditsPending);
  const isWhole = paymentOption === null || paymentOption === 'DEFAULT';
  if (isWhole && amountMinor <= amount) return [notKept('PAYOFF')];
  const figures = [{ name: 'owed', amountMinor: amount } as const];
  return [
    stored('PAYOFF', { source: 'RECOMPUTED', figures, headroomMinor: isWhole ? fromZero(amount) : null }),
  ];
}

function funds(decision: Decision): Check {
  const { transfer, balances } = decision;
  const { amountMinor, fromKey } = transfer;
  const entry = decidingEntry(decision, fromKey);
  if (entry !== undefined) {
    const { floor, postedAfter, debitsPendingAfter } = entry;
    const available = {
      name: 'available',
      amountMinor: postedAfter - debitsPendingAfter + amountMinor,
    } as const;
    if (floor === null) return stored('FUNDS', { figures: [available] });
    const figures = [available, { name: 'floor', amountMinor: floor } as const];
    return stored('FUNDS', { figures, headroomMinor: fromZero(available.amountMinor - floor) });
  }
  const balance = balances.find(({ accountKey }) => accountKey === fromKey);
  const available = balance && balance.posted - balance.debitsPending;
  // The overdraft line of then is not stored; it only adds to the balance.
  if (available === undefined || amountMinor <= available) return notKept('FUNDS');
  return stored('FUNDS', { source: 'RECOMPUTED', figures: [{ name: 'available', amountMinor: available }] });
}

function fromZero(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}

function screeningOf({ screening }: Decision): Check[] {
  if (screening === null) return [];
  const { verdict, askedMillis } = screening;
  const outcome = verdict === 'HOLD' ? 'HELD' : verdict === 'DECLINE' ? 'REFUSED' : 'PASSED';
  const figures = askedMillis === null ? [] : [{ name: 'askedMillis', count: askedMillis } as const];
  return [stored('SCREENING', { outcome, figures })];
}

/** Review and cut-off: whether a person or a business day came first. */
function reviewOf(decision: Decision): Check[] {
  const { transfer, rules, usages, screening, timeZone } = decision;
  const { amountMinor, transferType, currencyCode, createdAt: at } = transfer;
  if (rules === undefined || transferType === null) return [heldAsStored(decision)];
  const counters = countersOf(decision);
  const policy = policyFor(rules.policies, transferType, currencyCode);
  const isHeldByScreening = screening?.verdict === 'HOLD';
  const hold = holdTerms(policy, calendarOf(rules, timeZone), {
    ...{ amountMinor, at, isHeldByScreening, screening: null },
    isTotalAbove: isTotalAbove(usages, counters, amountMinor),
  });
  if (contradicts(hold, decision)) return [heldAsStored(decision)];
  const above = (headroom: bigint | null) => headroom !== null && amountMinor > headroom;
  const recomputed = (check: CheckName, isHeld: boolean, more: Partial<Check> = {}): Check =>
    stored(check, { source: 'RECOMPUTED', outcome: isHeld ? 'HELD' : 'PASSED', ...more });
  const totals = usages.flatMap((usage) => {
    const headroomMinor = counters.unreviewedHeadroom(usage);
    if (headroomMinor === null || usage.reviewAbove === null || usage.limit === null) return [];
    const used = decision.counted.find(({ limitKey }) => limitKey === usage.limitKey)?.amount ?? 0n;
    const figures = [
      { name: 'used', amountMinor: used },
      { name: 'threshold', amountMinor: usage.reviewAbove },
    ] as const;
    return [
      recomputed('REVIEW_TOTAL', above(headroomMinor), {
        limit: nameOf(usage.limit),
        figures,
        headroomMinor,
      }),
    ];
  });
  const { aboveMinor = null, secondApprovalAboveMinor = null } = policy?.review ?? {};
  const figures: Figure[] = [
    ...(aboveMinor === null ? [] : [{ name: 'threshold', amountMinor: aboveMinor } as const]),
    ...(secondApprovalAboveMinor === null
      ? []
      : [{ name: 'secondThreshold', amountMinor: secondApprovalAboveMinor } as const]),
  ];
  return [
    ...totals,
    recomputed('REVIEW', above(aboveMinor), { figures, headroomMinor: aboveMinor }),
    ...(policy?.cutOff == null ? [] : [recomputed('CUT_OFF', hold !== null && hold.notBefore !== null)]),
  ];
}

/** Whether a recomputed hold is another than the stored one, so that something of then is not known. */
function contradicts(
  hold: PendingTerms | null,
  { transfer, entries, pending, approvals, core }: Decision,
): boolean {
  const isReview = hold?.heldFor === 'REVIEW';
  if (approvals.length > 0 || (pending?.approvalsNeeded ?? 0) > 0) return !isReview;
  if (entries.length === 0) return false;
  const wasHeld = entries.some(({ kind }) => kind === 'HOLD');
  if (hold !== null) return !wasHeld;
  const waitedForCore = core?.mode === 'WAIT' && core.issuedAt.getTime() === transfer.createdAt.getTime();
  return wasHeld && !waitedForCore;
}

/** The review as far as it is stored. */
function heldAsStored({ entries, pending, approvals }: Decision): Check {
  const wasReviewed = approvals.length > 0 || (pending?.approvalsNeeded ?? 0) > 0;
  const wasHeld = entries.some(({ kind }) => kind === 'HOLD');
  const outcome = wasReviewed ? 'HELD' : wasHeld ? 'NOT_KNOWN' : 'PASSED';
  return notKept('REVIEW', { outcome });
}

function calendarOf({ businessDays }: RulesThen, timeZone: string): BusinessCalendar {
  const exceptions = new Map<LocalDate, 'OPEN' | 'CLOSED'>(
    businessDays.map(({ day, open }) => [day, open ? 'OPEN' : 'CLOSED']),
  );
  return { timeZone, opensAt: '00:00', exceptions };
}

function coreOf({ core }: Decision): Check[] {
  return core === null ? [] : [stored('CORE', { outcome: core.mode === 'WAIT' ? 'HELD' : 'PASSED' })];
}
