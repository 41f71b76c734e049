import { randomUUID } from 'node:crypto';
import type { Operator } from './operator.ts';

/** The origin of a request or command. */
export interface Origin {
  /** The id that the caller, the log and the audit share. */
  readonly transactionId: string;
  /** The caller's address; null for commands and for acts of the service itself. */
  readonly address: string | null;
  /** True if a trusted proxy named the address. Otherwise it is the peer's, which may be a client's server and no member. */
  readonly isForwarded?: boolean;
  /** The person who ran the command. */
  readonly operator?: Operator;
}

/** The origin of a command. */
export interface CommandOrigin extends Origin {
  readonly operator: Operator;
}

/** The origin of acts of the service itself. */
export function ownOrigin(): Origin {
  return { transactionId: randomUUID(), address: null };
}
