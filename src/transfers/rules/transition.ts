import { type CommandOrigin, namesOf, shareAPerson } from '../../events/index.ts';
import { coreUnavailable } from './controls/core-path.ts';
import type { PendingTerms } from './controls/policies.ts';
import type { Failure } from './failure.ts';
import type { Act, Unchanged } from './transfer.ts';

/** The effect of an act on a pending transfer. */
export type Transition =
  | { readonly to: 'posted' }
  | { readonly to: 'failed'; readonly failure: Failure }
  /** Approved and still pending: for a second person, or until its processing time. */
  | {
      readonly to: 'pending';
      readonly terms: PendingTerms;
      readonly why: Extract<Unchanged, 'waits_for_approval' | 'waits_for_time'>;
    }
  | { readonly to: 'nothing'; readonly why: Unchanged };

/**
 * The act as it counts at a moment. An approval after the review's end is too late, even if no process has posted or expired
 * the transfer yet: it counts as `due`. A refusal or a cancellation is in time until the transfer has ended: it moves no
 * money, and a caller that sees a transfer PENDING can rely on it.
 */
export function actInTime(act: Act, terms: PendingTerms, at: Date): Act {
  const tooLate = act.kind === 'approve' && terms.heldFor === 'REVIEW' && at >= terms.dueAt;
  return tooLate ? { kind: 'due' } : act;
}

interface PendingState extends PendingTerms {
  readonly approvedBy: readonly (readonly string[])[];
  /** The core has its instruction, and may have carried it out. */
  readonly isWithCore: boolean;
}

export const decisions = ['approve', 'decline'] as const;

/** The decisions of this operator that would not be refused now. */
export function decisionsOn(
  pending: PendingState,
  { origin, at }: { readonly origin: CommandOrigin; readonly at: Date },
): (typeof decisions)[number][] {
  return decisions.filter((kind) => transitionOf({ kind, origin }, pending, at).to !== 'nothing');
}

/**
 * The whole table of the acts on a pending transfer. `approvedBy` has the names of each person who approved it before. The
 * caller's right to the act was checked before.
 */
export function transitionOf(
  act: Act,
  { approvedBy, isWithCore, ...terms }: PendingState,
  at: Date,
): Transition {
  switch (act.kind) {
    case 'core_accepted':
      return { to: 'posted' };
    case 'core_rejected':
      return failed('core_rejected', "The institution's core system refused the transfer.");
    case 'cancel':
      return isWithCore
        ? { to: 'nothing', why: 'with_core' }
        : failed('transfer_cancelled', 'The transfer was cancelled before it was posted.');
    case 'decline':
      return isWithCore
        ? { to: 'nothing', why: 'with_core' }
        : failed('transfer_declined', 'The institution declined the transfer after review.');
    case 'due':
      if (at < terms.dueAt) return { to: 'nothing', why: 'not_due' };
      if (isWithCore) return { to: 'nothing', why: 'with_core' };
      if (terms.heldFor === 'CORE') return { to: 'failed', failure: coreUnavailable };
      return terms.whenDue === 'POST'
        ? { to: 'posted' }
        : failed('transfer_expired', 'The transfer was not approved in time.');
    case 'approve': {
      if (terms.heldFor !== 'REVIEW') return { to: 'nothing', why: 'not_in_review' };
      const names = namesOf(act.origin.operator);
      const before = approvedBy.some((earlier) => shareAPerson(earlier, names));
      if (before) return { to: 'nothing', why: 'approved_before' };
      if (approvedBy.length + 1 < terms.approvalsNeeded)
        return { to: 'pending', terms, why: 'waits_for_approval' };
      const { notBefore, approvalsNeeded } = terms;
      if (notBefore === null || notBefore <= at) return { to: 'posted' };
      if (approvedBy.length >= approvalsNeeded) return { to: 'nothing', why: 'not_in_review' };
      return {
        to: 'pending',
        terms: { ...terms, dueAt: notBefore, whenDue: 'POST' },
        why: 'waits_for_time',
      };
    }
  }
}

function failed(code: Failure['code'], detail: string): Transition {
  return { to: 'failed', failure: { code, detail } };
}
