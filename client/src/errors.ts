import type { InvalidPart, ProblemCode, Transfer, TransferLimit } from './schema.ts';

/** The base of every error of this library. Tell them apart by `instanceof` or `code`: a minifier changes their names. */
export class SharedraftError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** No response came: the connection failed or broke. */
export class ConnectionError extends SharedraftError {}

/** No response came within the time limit of an attempt. */
export class TimeoutError extends ConnectionError {}

/** A webhook whose signature or time is wrong. */
export class WebhookVerificationError extends SharedraftError {}

/** A problem document (RFC 9457), an error of the token endpoint (RFC 6749), or one of FDX. */
export interface ProblemBody {
  readonly code?: ProblemCode;
  readonly title?: string;
  readonly detail?: string;
  readonly errors?: readonly InvalidPart[];
  readonly error?: string;
  readonly error_description?: string;
  readonly debugMessage?: string;
  readonly [member: string]: unknown;
}

/** The service responded with an error. */
export class ApiError extends SharedraftError {
  readonly status: number;
  /** The code of the problem. Treat an unknown one by `status`. */
  readonly code: ProblemCode;
  /** The invalid parts of the request, by JSON pointer. */
  readonly errors: readonly InvalidPart[];
  /** For a report to the institution: it finds the request in the log. */
  readonly requestId: string | null;
  /** Seconds after which the request may be repeated, if the service said so. */
  readonly retryAfterSeconds: number | undefined;
  readonly problem: ProblemBody;

  constructor(status: number, headers: Headers, problem: ProblemBody) {
    // An error of FDX has a number for its code, and ours in front of the text for developers.
    const [, fdxCode, fdxDetail] = /^(\w+): (.*)$/s.exec(problem.debugMessage ?? '') ?? [];
    const code = fdxCode ?? problem.code ?? problem.error ?? `http_${status}`;
    const detail = fdxDetail ?? problem.detail ?? problem.error_description ?? problem.title;
    const parts = (problem.errors ?? []).map((part) => `${part.pointer}: ${part.detail}`);
    super([detail === undefined ? code : `${code}: ${detail}`, ...parts].join(' '));
    this.status = status;
    this.code = code;
    this.errors = problem.errors ?? [];
    this.requestId = headers.get('transactionid');
    this.retryAfterSeconds = secondsOf(headers.get('retry-after'));
    this.problem = problem;
  }
}

/** 400, 413, 415: the request is wrong as it stands. */
export class InvalidRequestError extends ApiError {}

/** 401: no token, or one that is not active. With `insufficient_user_authentication` the member must sign in again. */
export class AuthenticationError extends ApiError {}

/** 403: the token lacks the scope, or is of the wrong kind. */
export class PermissionError extends ApiError {}

/** 404: the thing does not exist, or the caller may not see it. */
export class NotFoundError extends ApiError {}

/** 409: the request contradicts the present state, for instance `transfer_id_reused`. Final. */
export class ConflictError extends ApiError {}

/** 422: the request was understood and refused. */
export class RefusedError extends ApiError {}

/** 422 for an order: the transfer is stored as FAILED, and `code` says why. Final. */
export class TransferDeclinedError extends RefusedError {
  get transfer(): Transfer {
    return this.problem.transfer as Transfer;
  }

  /** With `limit_exceeded`: the limit. */
  get limit(): TransferLimit | undefined {
    return this.problem.limit as TransferLimit | undefined;
  }
}

/** 429: too many requests. */
export class RateLimitError extends ApiError {}

/** 503 and other 5xx. With 503 nothing was written. */
export class UnavailableError extends ApiError {}

/** 504 `outcome_unknown`: the order may or may not have been posted. Repeat it with the same id. */
export class OutcomeUnknownError extends UnavailableError {
  /** The id to repeat a transfer with. */
  get id(): string | undefined {
    return typeof this.problem.id === 'string' ? this.problem.id : undefined;
  }
}

const classByStatus = new Map<number, typeof ApiError>([
  [400, InvalidRequestError],
  [401, AuthenticationError],
  [403, PermissionError],
  [404, NotFoundError],
  [409, ConflictError],
  [413, InvalidRequestError],
  [415, InvalidRequestError],
  [422, RefusedError],
  [429, RateLimitError],
]);

export function errorOf(status: number, headers: Headers, problem: ProblemBody): ApiError {
  const found =
    problem.code === 'outcome_unknown'
      ? OutcomeUnknownError
      : status === 422 && problem.transfer !== undefined
        ? TransferDeclinedError
        : (classByStatus.get(status) ?? (status >= 500 ? UnavailableError : ApiError));
  return new found(status, headers, problem);
}

/** Seconds, or the moment of an HTTP date (RFC 9110, section 10.2.3). */
function secondsOf(retryAfter: string | null): number | undefined {
  if (retryAfter === null) return undefined;
  const seconds = /^\d+$/.test(retryAfter)
    ? Number(retryAfter)
    : (Date.parse(retryAfter) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
