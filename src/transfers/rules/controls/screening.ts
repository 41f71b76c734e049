import type { Failure } from '../failure.ts';

/** The institution's judgement of an order, before the order is decided. HOLD: a person reviews it. */
export type Verdict = 'APPROVE' | 'HOLD' | 'DECLINE';

export const verdicts: readonly Verdict[] = ['APPROVE', 'HOLD', 'DECLINE'];

/** The verdict on one order, with its source. */
export interface Screening {
  readonly verdict: Verdict;
  /** SILENT: no valid answer came in time. NOT_ASKED: the order had no verdict when it was decided. */
  readonly answer: 'ANSWERED' | 'SILENT' | 'NOT_ASKED';
  /** The case number of the hook. */
  readonly reference: string | null;
  readonly askedMillis: number | null;
}

/** The part of an institution's screening that decides. */
export interface ScreeningRule {
  /** In minor units of `currency`; orders in another currency are always screened. */
  readonly fromMinor: bigint;
  readonly currency: string;
  /** The verdict on an order without an answer. */
  readonly onSilence: Verdict;
  /** An order that is held expires after this time. */
  readonly holdSeconds: number;
}

interface Amount {
  readonly amountMinor: bigint;
  readonly currency: string;
}

export function isScreened(
  rule: ScreeningRule | null,
  { amountMinor, currency }: Amount,
): rule is ScreeningRule {
  return rule !== null && (currency !== rule.currency || amountMinor >= rule.fromMinor);
}

/**
 * The verdict that binds an order; null: it is not screened. An order that comes without a verdict, for instance because the
 * setting is newer than the question, is treated like one without an answer.
 */
export function screeningOf(
  given: Screening | null,
  rule: ScreeningRule | null,
  amount: Amount,
): Screening | null {
  if (given !== null) return given;
  if (!isScreened(rule, amount)) return null;
  return { verdict: rule.onSilence, answer: 'NOT_ASKED', reference: null, askedMillis: null };
}

/** The same words as after a review: the reason stays with the institution. */
export const declinedByScreening = {
  code: 'transfer_declined',
  detail: 'The institution declined the transfer.',
} as const satisfies Failure;

/** A dry run asks nobody, and supposes the order approved. */
export const supposedApproved: Screening = {
  verdict: 'APPROVE',
  answer: 'NOT_ASKED',
  reference: null,
  askedMillis: null,
};
