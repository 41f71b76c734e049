import { type BusinessCalendar, cutOff } from '../../institutions/index.ts';
import type { LoanPaymentOption } from '../../ledger/index.ts';
import type { TransferType } from './transfer.ts';

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
}

/** What a pending transfer waits for, and what becomes of it by itself. */
export interface PendingTerms {
  readonly heldFor: 'REVIEW' | 'CUT_OFF';
  readonly dueAt: Date;
  readonly whenDue: 'POST' | 'EXPIRE';
  /** By different persons; with them it posts before it is due, but not before `notBefore`. */
  readonly approvalsNeeded: number;
  readonly notBefore: Date | null;
}

export function policyFor(
  policies: readonly Policy[],
  transferType: TransferType,
  currency: string,
): Policy | undefined {
  return policies.find((policy) => policy.transferType === transferType && policy.currency === currency);
}

/** How an order is reviewed that a limit's total holds where its type has no review of its own: within a day, or it expires. */
const reviewOfTotals = {
  aboveMinor: 0n,
  secondApprovalAboveMinor: null,
  seconds: 86_400,
  onReviewTimeout: 'EXPIRE',
} as const satisfies Policy['review'];

/**
 * Null: the transfer posts at once. An amount exactly at a threshold is not above it. `isTotalAbove`: with what was ordered
 * before it is above a limit's total for review.
 */
export function holdTerms(
  policy: Policy | undefined,
  amountMinor: bigint,
  at: Date,
  calendar: BusinessCalendar,
  isTotalAbove: boolean,
): PendingTerms | null {
  const review = policy?.review ?? (isTotalAbove ? reviewOfTotals : null);
  const notBefore = policy?.cutOff == null ? null : cutOff(at, policy.cutOff, calendar);
  if (review !== null && (isTotalAbove || amountMinor > review.aboveMinor)) {
    const second = review.secondApprovalAboveMinor;
    const reviewed = new Date(at.getTime() + review.seconds * 1000);
    return {
      heldFor: 'REVIEW',
      // What would post unreviewed still waits for its business day.
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

/** The terms as far as a member is told of them: reviews are the institution's own matter. */
export function termsForMember(terms: PendingTerms | null): PendingTerms | null {
  return terms === null || terms.notBefore === null ? null : untilBusinessDay(terms.notBefore);
}

function untilBusinessDay(notBefore: Date): PendingTerms {
  return { heldFor: 'CUT_OFF', dueAt: notBefore, whenDue: 'POST', approvalsNeeded: 0, notBefore };
}

/** The ways of paying a loan that the institution takes; without a policy only the usual one. */
export function paymentOptionsOf(policy: Policy | undefined): readonly LoanPaymentOption[] {
  return policy?.paymentOptions ?? ['DEFAULT'];
}
