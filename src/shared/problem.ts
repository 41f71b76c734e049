import type { FailureCode } from './failure-codes.ts';

/**
 * The codes of problems: errors that are thrown for an invalid request or state. http/problems.ts, which alone knows status
 * numbers, turns them into RFC 9457 documents. Expected business outcomes, such as a transfer declined for insufficient
 * funds, are values and are not thrown.
 */
export type ProblemCode =
  // the request as such
  | 'malformed_json'
  | 'invalid_request'
  | 'path_not_found'
  | 'method_not_allowed'
  | 'not_acceptable'
  | 'body_too_large'
  | 'unsupported_media_type'
  | 'headers_too_large'
  | 'request_timeout'
  // the caller
  | 'missing_token'
  | 'invalid_token'
  | 'invalid_dpop_proof'
  | 'use_dpop_nonce'
  | 'insufficient_scope'
  | 'insufficient_user_authentication'
  | 'client_token_required'
  | 'member_token_required'
  | 'consent_required'
  | 'too_many_requests'
  | 'act_refused'
  // the requested object
  | 'not_found'
  | 'member_not_found'
  | 'identity_mismatch'
  | 'registration_refused'
  | 'member_already_registered'
  | 'ambiguous_user_id'
  | 'activation_code_invalid'
  | 'email_code_invalid'
  | 'email_taken'
  | 'username_taken'
  | 'username_rejected'
  | 'password_rejected'
  | 'wrong_password'
  | 'too_many_endpoints'
  | 'rotation_under_way'
  | 'transfer_id_reused'
  // why a transfer failed
  | FailureCode
  | 'transfer_final'
  | 'transfer_with_core'
  | 'instruction_decided'
  // the service itself
  | 'internal_error'
  | 'overloaded'
  | 'shutting_down'
  | 'database_unavailable'
  | 'institution_moving'
  | 'institution_elsewhere'
  | 'outcome_unknown';

/** One invalid part of a request. `pointer` is an RFC 6901 JSON pointer, or a parameter's name in a query or path. */
export interface InvalidPart {
  readonly pointer: string;
  readonly detail: string;
}

export interface ProblemOptions {
  readonly cause?: unknown;
  readonly errors?: readonly InvalidPart[];
  /** Seconds after which trying again makes sense; becomes `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** The refusal reveals whether a member number is known; not every client may learn that. */
  readonly revealsMembership?: boolean;
  /** Further members of the document, for the codes whose pages name them. */
  readonly members?: Readonly<Record<string, unknown>>;
}

export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  /** For the caller: never repeats input, never names SQL or a stack. */
  readonly detail: string;
  readonly errors: readonly InvalidPart[];
  readonly retryAfterSeconds: number | undefined;
  readonly members: Readonly<Record<string, unknown>>;
  readonly revealsMembership: boolean;

  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    super(`${code}: ${detail}`, { cause: options.cause });
    this.code = code;
    this.detail = detail;
    this.errors = options.errors ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.members = options.members ?? {};
    this.revealsMembership = options.revealsMembership ?? false;
  }
}
