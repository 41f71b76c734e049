import type { LocalDate } from '../../institutions/index.ts';
import { type Counter, Counters, type Limit, least, nameOf, usagesOf } from '../rules/controls/limits.ts';
import { holdTerms, type Policy, policyFor } from '../rules/controls/policies.ts';
import { isTotalAbove } from '../rules/decide.ts';
import type { TransferType } from '../rules/transfer.ts';

/** The decision of the thresholds and limits on an order. PASSES: it waits for no person; it may wait for its business day or the core. */
export const ruleOutcomes = ['PASSES', 'REVIEW', 'TWO_APPROVALS', 'DECLINED'] as const;
export type RuleOutcome = (typeof ruleOutcomes)[number];

/** The thresholds of review of one type and currency. */
interface ReviewThresholds {
  readonly transferType: TransferType;
  readonly currency: string;
  /** Null: no amount is reviewed for itself. */
  readonly reviewAboveMinor: bigint | null;
  readonly secondApprovalAboveMinor: bigint | null;
}

/** The rules that a preview compares. */
export interface DecidingRules {
  readonly thresholds: readonly ReviewThresholds[];
  readonly limits: readonly Limit[];
}

/** An order of the past, as far as the rules know it. */
export interface PastOrder {
  readonly transferType: TransferType;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly createdAt: Date;
  /** The institution's day of the order. */
  readonly day: LocalDate;
  /** Null: a client ordered it without a member. */
  readonly userKey: bigint | null;
  readonly from: {
    readonly accountKey: bigint;
    readonly customerKey: bigint;
    readonly diAccountType: string;
  };
  readonly isHeldByScreening: boolean;
  /** It was accepted, and ended later without moving money: it counts against no limit. */
  readonly hasEnded: boolean;
}

/**
 * Decides the orders of the past by other rules, one after another. It counts by itself, from zero, so begin with the first order of the
 * period of a limit. The functions are those that decide real orders.
 */
export class Replay {
  readonly #limits: readonly Limit[];
  readonly #policies: readonly Policy[];
  readonly #counters = new Map<string, Counter>();

  constructor({ thresholds, limits }: DecidingRules) {
    this.#limits = limits;
    this.#policies = thresholds.map(policyOf);
  }

  decide(order: PastOrder): RuleOutcome {
    const { transferType, currency, amountMinor, userKey, from, day } = order;
    const actor = userKey === null ? ({ kind: 'client' } as const) : ({ kind: 'member', userKey } as const);
    const usages = usagesOf(this.#limits, { actor, from, transferType, currency, day });
    const counters = new Counters(
      usages.flatMap((usage) => this.#counters.get(nameOf(usage)) ?? []),
      usages,
    );
    const headroom = usages.map((usage) => counters.headroom(usage)).reduce(least, null);
    if (headroom !== null && amountMinor > headroom) return 'DECLINED';
    const hold = holdTerms(policyFor(this.#policies, transferType, currency), noCalendar, {
      amountMinor,
      at: order.createdAt,
      isTotalAbove: isTotalAbove(usages, counters, amountMinor),
      isHeldByScreening: order.isHeldByScreening,
      screening: null,
    });
    if (!order.hasEnded) {
      for (const usage of usages) counters.count(usage, amountMinor, hold !== null);
      for (const counter of [...counters.added(), ...counters.changed()])
        this.#counters.set(nameOf(counter), counter);
    }
    if (hold === null) return 'PASSES';
    return hold.approvalsNeeded > 1 ? 'TWO_APPROVALS' : 'REVIEW';
  }
}

/** Without a cut-off the calendar is never read. */
const noCalendar = { timeZone: 'UTC', opensAt: '00:00', exceptions: new Map() };

/** The duration of a review, its end and the cut-off decide on no order. */
function policyOf({ reviewAboveMinor, secondApprovalAboveMinor, ...names }: ReviewThresholds): Policy {
  const ends = { seconds: 86_400, onReviewTimeout: 'EXPIRE' } as const;
  return {
    ...names,
    review:
      reviewAboveMinor === null ? null : { aboveMinor: reviewAboveMinor, secondApprovalAboveMinor, ...ends },
    cutOff: null,
    paymentOptions: ['DEFAULT'],
  };
}
