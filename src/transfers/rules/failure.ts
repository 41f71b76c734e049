import type { ExceededLimit, FailureCode } from './transfer.ts';

/** Why a transfer fails. */
export interface Failure {
  readonly code: FailureCode;
  /** A public sentence. */
  readonly detail: string;
  /** With `limit_exceeded`. */
  readonly limit?: ExceededLimit | null;
}
