import { namesOf, shareAPerson } from '../../events/index.ts';
import type { Failure } from './decide.ts';
import type { PendingTerms } from './policies.ts';
import type { Act, Unchanged } from './transfer.ts';

/** What an act does to a pending transfer. */
export type Transition =
  | { readonly to: 'posted' }
  | { readonly to: 'failed'; readonly failure: Failure }
  /** Approved, and it waits on: for a second person, or until its processing time. */
  | { readonly to: 'pending'; readonly terms: PendingTerms }
  | { readonly to: 'nothing'; readonly why: Unchanged };

/**
 * The act as it counts at a moment. An approval after the review's end comes too late, also where nobody has come yet to
 * post or expire the transfer: it finds what the clock has done. A refusal or a cancellation is in time until then: it
 * moves no money, and whoever sees a transfer PENDING may rely on it.
 */
export function actInTime(act: Act, terms: PendingTerms, at: Date): Act {
  const tooLate = act.kind === 'approve' && terms.heldFor === 'REVIEW' && at >= terms.dueAt;
  return tooLate ? { kind: 'due' } : act;
}

/**
 * What becomes of a pending transfer by an act at a moment. `approvedBy`: the names of each who has approved it before. Whether the
 * caller may do it is asked before.
 */
export function transitionOf(
  act: Act,
  terms: PendingTerms,
  approvedBy: readonly (readonly string[])[],
  at: Date,
): Transition {
  switch (act.kind) {
    case 'cancel':
      return failed('transfer_cancelled', 'The transfer was cancelled before it was posted.');
    case 'decline':
      return failed('transfer_declined', 'The institution declined the transfer after review.');
    case 'due':
      if (at < terms.dueAt) return { to: 'nothing', why: 'not_due' };
      return terms.whenDue === 'POST'
        ? { to: 'posted' }
        : failed('transfer_expired', 'The transfer was not approved in time.');
    case 'approve': {
      if (terms.heldFor === 'CUT_OFF') return { to: 'nothing', why: 'waits' };
      const names = namesOf(act.origin.operator);
      const before = approvedBy.some((earlier) => shareAPerson(earlier, names));
      if (before) return { to: 'nothing', why: 'approved_before' };
      if (approvedBy.length + 1 < terms.approvalsNeeded) return { to: 'pending', terms };
      const { notBefore } = terms;
      return notBefore === null || notBefore <= at
        ? { to: 'posted' }
        : { to: 'pending', terms: { ...terms, dueAt: notBefore, whenDue: 'POST' } };
    }
  }
}

function failed(code: Failure['code'], detail: string): Transition {
  return { to: 'failed', failure: { code, detail } };
}
