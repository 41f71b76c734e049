import { OAuthError } from '../auth/index.ts';
import { forEachFailure } from '../shared/failure-codes.ts';
import { type InvalidPart, Problem, type ProblemCode } from '../shared/problem.ts';

export interface ProblemKind {
  readonly status: number;
  /** The same for every occurrence (RFC 9457, section 3.1.3). */
  readonly title: string;
  /** Replaces the detail of the thrown problem, so that its words do not reveal whether something exists. */
  readonly detail?: string;
}

/** The one table from code to status. Each code has a page under docs/problems. */
export const problemKinds: Readonly<Record<ProblemCode, ProblemKind>> = {
  malformed_json: { status: 400, title: 'Malformed JSON' },
  invalid_request: { status: 400, title: 'Invalid request' },
  path_not_found: { status: 404, title: 'Path not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  not_acceptable: { status: 406, title: 'Not acceptable' },
  body_too_large: { status: 413, title: 'Body too large' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  headers_too_large: { status: 431, title: 'Headers too large' },
  request_timeout: { status: 408, title: 'Request timeout' },

  missing_token: { status: 401, title: 'Missing access token' },
  invalid_token: { status: 401, title: 'Invalid access token' },
  invalid_dpop_proof: { status: 401, title: 'Invalid DPoP proof' },
  use_dpop_nonce: { status: 401, title: 'DPoP nonce needed' },
  insufficient_scope: { status: 403, title: 'Insufficient scope' },
  insufficient_user_authentication: { status: 401, title: 'Insufficient user authentication' },
  client_token_required: { status: 403, title: 'Client token required' },
  member_token_required: { status: 403, title: 'Member token required' },
  consent_required: { status: 403, title: 'Consent required' },
  too_many_requests: { status: 429, title: 'Too many requests' },
  act_refused: { status: 409, title: 'Act refused' },

  not_found: {
    status: 404,
    title: 'Not found',
    detail: 'It does not exist, or you may not see it.',
  },
  member_not_found: { status: 404, title: 'Member not found' },
  identity_mismatch: { status: 422, title: 'Identity mismatch' },
  registration_refused: { status: 422, title: 'Registration refused' },
  member_already_registered: { status: 409, title: 'Member already registered' },
  ambiguous_user_id: { status: 409, title: 'Ambiguous user ID' },
  activation_code_invalid: { status: 422, title: 'Invalid activation code' },
  email_code_invalid: { status: 422, title: 'Invalid e-mail code' },
  email_taken: { status: 409, title: 'E-mail address taken' },
  username_taken: { status: 409, title: 'Username taken' },
  username_rejected: { status: 422, title: 'Username rejected' },
  password_rejected: { status: 422, title: 'Password rejected' },
  wrong_password: { status: 422, title: 'Wrong password' },
  too_many_endpoints: { status: 422, title: 'Too many endpoints' },
  rotation_under_way: { status: 409, title: 'Rotation under way' },
  transfer_id_reused: { status: 409, title: 'Transfer ID reused' },

  ...forEachFailure((title) => ({ status: 422, title })),
  transfer_final: { status: 409, title: 'Transfer is final' },
  transfer_with_core: { status: 409, title: 'Transfer is with the core' },
  instruction_decided: { status: 409, title: 'Instruction decided' },

  internal_error: { status: 500, title: 'Internal error' },
  overloaded: { status: 503, title: 'Overloaded' },
  shutting_down: { status: 503, title: 'Shutting down' },
  database_unavailable: { status: 503, title: 'Database unavailable' },
  institution_moving: { status: 503, title: 'Institution moving' },
  institution_elsewhere: { status: 421, title: 'Institution elsewhere' },
  outcome_unknown: { status: 504, title: 'Outcome unknown' },
};

export const problemCodes = Object.keys(problemKinds) as ProblemCode[];

/** RFC 9457. Some codes have additional members, which their pages name. */
interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance?: string;
  readonly code: ProblemCode;
  readonly errors?: readonly InvalidPart[];
  readonly [member: string]: unknown;
}

/** The response for an error. */
export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** `instance` names this occurrence if the transaction id is a UUID. */
function problemDocument(problem: Problem, transactionId: string): ProblemDocument {
  const { status, title, detail } = problemKinds[problem.code];
  return {
    type: `/problems/${problem.code}`,
    title,
    status,
    detail: detail ?? problem.detail,
    ...(uuid.test(transactionId) && { instance: `urn:uuid:${transactionId}` }),
    code: problem.code,
    ...(problem.errors.length > 0 && { errors: problem.errors }),
    ...problem.members,
  };
}

export function problemResponse(problem: Problem, transactionId: string): ErrorResponse {
  const { status } = problemKinds[problem.code];
  // Names the time to retry (RFC 9110, section 10.2.3).
  const retryAfter = problem.retryAfterSeconds ?? (status === 429 || status === 503 ? 1 : undefined);
  return {
    status,
    headers: {
      'content-type': 'application/problem+json',
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    },
    body: problemDocument(problem, transactionId),
  };
}

/**
 * A refusal of the token operation (RFC 6749, section 5.2). A 401 names the authentication scheme (RFC 9110, section
 * 15.5.2), as section 5.2 demands after HTTP Basic.
 */
export function oauthErrorResponse(error: OAuthError): ErrorResponse {
  const unknownClient = error.error === 'invalid_client';
  return {
    status: unknownClient ? 401 : 400,
    headers: {
      'content-type': 'application/json',
      pragma: 'no-cache',
      ...(unknownClient && { 'www-authenticate': 'Basic realm="sharedraft", charset="UTF-8"' }),
    },
    body: { error: error.error, error_description: error.description },
  };
}

/** The OAuth error for a request that could not be read; other problems stay problems. */
export function asOAuthError(error: unknown): OAuthError | undefined {
  if (error instanceof OAuthError) return error;
  if (error instanceof Problem && problemKinds[error.code].status === 400) {
    return new OAuthError('invalid_request', error.detail);
  }
  return undefined;
}

const fastifyErrors: ReadonlyMap<string, () => Problem> = new Map([
  [
    'FST_ERR_CTP_BODY_TOO_LARGE',
    () => new Problem('body_too_large', 'A body may have at most 65,536 bytes.'),
  ],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', () => unsupportedMediaType()],
  [
    'FST_ERR_CTP_INVALID_CONTENT_LENGTH',
    () => new Problem('invalid_request', 'The body has another length than Content-Length.'),
  ],
  ['FST_ERR_BAD_URL', () => new Problem('invalid_request', 'The path holds a malformed percent escape.')],
]);

export function pathNotFound(): Problem {
  return new Problem('path_not_found', 'There is nothing at this path.');
}

export function unsupportedMediaType(detail = 'The body must be of a media type that the operation takes.') {
  return new Problem('unsupported_media_type', detail);
}

/** Node's error for a body whose caller closed the connection. */
function isCutShort(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && error.code === 'ECONNRESET' && error.message === 'aborted'
  );
}

/** For the log only: the caller has closed the connection. */
function cutShort(): Problem {
  return new Problem('invalid_request', 'The connection was closed within the body.');
}

/** Any thrown value as a problem. An unexpected one becomes `internal_error`, with its cause for the log. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const known = isCutShort(error) ? cutShort() : fastifyErrors.get(code)?.();
  return known ?? new Problem('internal_error', 'The service failed on this request.', { cause: error });
}
