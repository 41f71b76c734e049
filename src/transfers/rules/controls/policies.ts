import { type BusinessCalendar, cutOff } from '../../../institutions/index.ts';
import type { LoanPaymentOption } from '../../../ledger/index.ts';
import type { TransferType } from '../transfer.ts';
import { controlsOf } from './controls.ts';
import type { ScreeningRule } from './screening.ts';

/** The treatment of transfers of one type and currency before they post. */
export interface Policy {
  readonly transferType: TransferType;
  readonly currency: string;
  /** Null: never reviewed. */
  readonly review: {
    readonly aboveMinor: bigint;
    readonly secondApprovalAboveMinor: bigint | null;
    readonly seconds: number;
    /** The outcome of a review that runs out of time. */
    readonly onReviewTimeout: 'POST' | 'EXPIRE';
  } | null;
  /** Local time of the institution as HH:MM:SS; null: no cut-off. */
  readonly cutOff: string | null;
  readonly paymentOptions: readonly LoanPaymentOption[];
  /** Default: `defaultCorePolicy`. */
  readonly core?: CorePolicy;
}

/** The treatment of a transfer where the core keeps the books; of no effect elsewhere. */
export interface CorePolicy {
  readonly mode: 'WAIT' | 'MEMO';
  /** MEMO up to this amount, WAIT above it; null: any amount. */
  readonly memoUpToMinor: bigint | null;
  /** A transfer that was not delivered to the core within this time fails. */
  readonly waitSeconds: number;
  /** The outcome of an order above the stand-in limits while the core is away. */
  readonly standIn: 'WAIT' | 'DECLINE';
}

export const defaultCorePolicy: CorePolicy = {
  mode: 'WAIT',
  memoUpToMinor: null,
  waitSeconds: 86_400,
  standIn: 'WAIT',
};

export function corePolicyOf(policy: Policy | undefined): CorePolicy {
  return policy?.core ?? defaultCorePolicy;
}

/** The terms of a hold: the event that a pending transfer waits for, and its end without one. */
export interface PendingTerms {
  readonly heldFor: 'REVIEW' | 'CUT_OFF' | 'CORE';
  readonly dueAt: Date;
  readonly whenDue: 'POST' | 'EXPIRE';
  /** Approvals by different persons. With all of them the transfer posts before `dueAt`, but not before `notBefore`. */
  readonly approvalsNeeded: number;
  readonly notBefore: Date | null;
}

export function policyFor(
  policies: readonly Policy[],
  transferType: TransferType,
  currency: string,
): Policy | undefined {
  const controls = controlsOf[transferType];
  return policies.find((policy) => policy.transferType === controls && policy.currency === currency);
}

/** The review of an order that a limit's total or screening holds, if its type has no review: within a day, or it expires. */
const reviewOfOthers = {
  aboveMinor: 0n,
  secondApprovalAboveMinor: null,
  seconds: 86_400,
  onReviewTimeout: 'EXPIRE',
} as const satisfies Policy['review'];

interface Held {
  readonly amountMinor: bigint;
  readonly at: Date;
  /** Together with earlier orders the amount is above the review total of a limit. */
  readonly isTotalAbove: boolean;
  readonly isHeldByScreening: boolean;
  readonly screening: Pick<ScreeningRule, 'holdSeconds'> | null;
}

/** Null: the transfer posts at once. An amount exactly at a threshold is not above it. */
export function holdTerms(
  policy: Policy | undefined,
  calendar: BusinessCalendar,
  order: Held,
): PendingTerms | null {
  const { amountMinor, at } = order;
  const review = reviewOf(policy, order);
  const notBefore = policy?.cutOff == null ? null : cutOff(at, policy.cutOff, calendar);
  if (review !== null) {
    const second = review.secondApprovalAboveMinor;
    const reviewed = new Date(at.getTime() + review.seconds * 1000);
    return {
      heldFor: 'REVIEW',
      // A transfer that posts after the review's end still waits for its business day.
      dueAt:
        review.onReviewTimeout === 'POST' && notBefore !== null && notBefore > reviewed
          ? notBefore
          : reviewed,
      whenDue: review.onReviewTimeout,
      approvalsNeeded: second !== null && amountMinor > second ? 2 : 1,
      notBefore,
    };
  }
  if (notBefore === null) return null;
  return untilBusinessDay(notBefore);
}

function reviewOf(
  policy: Policy | undefined,
  { amountMinor, isTotalAbove, isHeldByScreening, screening }: Held,
): Policy['review'] {
  const review = policy?.review ?? reviewOfOthers;
  if (isHeldByScreening) {
    return { ...review, seconds: screening?.holdSeconds ?? review.seconds, onReviewTimeout: 'EXPIRE' };
  }
  if (isTotalAbove) return review;
  return policy?.review && amountMinor > policy.review.aboveMinor ? policy.review : null;
}

/** The terms that a member may see, which leave out reviews (ADR 23). A reviewed order may still wait for the core afterwards. */
export function termsForMember({
  pending,
  core,
}: {
  readonly pending: PendingTerms | null;
  readonly core: { readonly terms: PendingTerms | null } | null;
}): PendingTerms | null {
  const notBefore = pending?.notBefore ?? null;
  return notBefore === null ? (core?.terms ?? null) : untilBusinessDay(notBefore);
}

function untilBusinessDay(notBefore: Date): PendingTerms {
  return { heldFor: 'CUT_OFF', dueAt: notBefore, whenDue: 'POST', approvalsNeeded: 0, notBefore };
}

/** The payment options that the institution accepts for loans; without a policy only DEFAULT. */
export function paymentOptionsOf(policy: Policy | undefined): readonly LoanPaymentOption[] {
  return policy?.paymentOptions ?? ['DEFAULT'];
}
