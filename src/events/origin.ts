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
  /** The person at the institution who acts. */
  readonly operator?: Operator;
  /** The words of the operator for the whole request; an entry with words of its own keeps those. */
  readonly statedReason?: string | undefined;
}

/** The origin of an act of an operator: a command, or an operation of /operations/v1. */
export interface CommandOrigin extends Origin {
  readonly operator: Operator;
}

/** The origin of acts of the service itself. */
export function ownOrigin(): Origin {
  return { transactionId: randomUUID(), address: null };
}
