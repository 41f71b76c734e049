import { randomUUID } from 'node:crypto';
import type { Operator } from './operator.ts';

/** From where something was asked for. */
export interface Origin {
  /** Under which the caller, the log and the audit know it. */
  readonly transactionId: string;
  /** The caller's; null for the command line and for what the service does by itself. */
  readonly address: string | null;
  /** A trusted proxy named the address; else it is the peer's, which for a client's server is no member's. */
  readonly isForwarded?: boolean;
  /** Of a command of the institution's own. */
  readonly operator?: Operator;
}

/** A command's. */
export interface CommandOrigin extends Origin {
  readonly operator: Operator;
}

/** Of what the service does by itself. */
export function ownOrigin(): Origin {
  return { transactionId: randomUUID(), address: null };
}
