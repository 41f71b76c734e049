import { wordOf } from '../../format.ts';
import type { Decided, Decision, WaitingTransfer } from '../../operations.ts';

export const effectOf: Readonly<Record<Decision, string>> = {
  approve: 'The money moves once enough persons have approved it.',
  decline: 'The transfer fails for good, and the held money is free again.',
};

const waitingWords: Readonly<Record<NonNullable<Decided['waitsFor']>, string>> = {
  SECOND_APPROVAL: 'Your approval is noted. Another person must approve it too.',
  PROCESSING_TIME: 'The transfer is approved, and posts at its processing time.',
  CORE: 'The transfer has gone to the core, and completes when the core accepts it.',
};

export function wordsOf({ outcome, waitsFor, status }: Decided): string {
  if (outcome === 'WAITS') return waitsFor ? waitingWords[waitsFor] : 'The transfer still waits.';
  if (outcome === 'PROPOSED') return 'Your decision is noted. Another person must decide the same.';
  return `The transfer is ${wordOf(status).toLowerCase()}.`;
}

type Decidable = Pick<WaitingTransfer, 'heldFor' | 'approvedBy' | 'approvalsNeeded' | 'isWithCore'>;

/** The persons who may decide on a transfer that waits. The same person never counts twice. */
export function decidersOf(
  { heldFor, approvedBy, approvalsNeeded, isWithCore }: Decidable,
  ownName: string,
): string {
  if (isWithCore) return 'nobody: the core has it, and its outcome ends it';
  const missing = approvalsNeeded - approvedBy.length;
  if (heldFor !== 'REVIEW' || missing <= 0) return 'an approver, who may decline it';
  if (approvedBy.includes(ownName)) return 'another approver: you have approved it';
  return missing > 1 ? `approvers, ${missing} of them` : 'an approver';
}
