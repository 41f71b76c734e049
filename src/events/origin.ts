import { randomUUID } from 'node:crypto';

/** From where something was asked for. */
export interface Origin {
  /** Under which the caller, the log and the audit know it. */
  readonly transactionId: string;
  /** The caller's; null for the command line and for what the service does by itself. */
  readonly address: string | null;
  /** Whose command it was, as the operating system names them. */
  readonly operator?: string;
}

/** Of what the service does by itself. */
export function ownOrigin(): Origin {
  return { transactionId: randomUUID(), address: null };
}
