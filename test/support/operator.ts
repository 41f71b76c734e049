import { randomUUID } from 'node:crypto';
import type { Operator, Origin } from '../../src/events/index.ts';

/** Of a command that a system user runs, without asking the operating system. */
export function commandOf(
  user: string,
  { transactionId = randomUUID(), ...more }: Partial<Operator> & { readonly transactionId?: string } = {},
): Origin & { readonly operator: Operator } {
  return { transactionId, address: null, operator: { user, host: 'teller-1', ...more } };
}
