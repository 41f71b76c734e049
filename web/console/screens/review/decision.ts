import { wordOf } from '../../format.ts';
import type { Decided } from '../../operations.ts';

export type Decision = 'approve' | 'decline';

export function wordsOf({ outcome, status }: Decided): string {
  if (outcome === 'WAITS') return 'Your approval is noted. Another person must approve it too.';
  if (outcome === 'PROPOSED') return 'Your decision is noted. Another person must decide the same.';
  return `The transfer is ${wordOf(status).toLowerCase()}.`;
}
