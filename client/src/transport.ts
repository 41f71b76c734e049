import { ApiError, ConnectionError, errorOf, type ProblemBody, TimeoutError } from './errors.ts';
import { parseJson } from './json.ts';

/** Makes a DPoP proof (RFC 9449), for instance with the package `dpop`. */
export type DpopProof = (about: {
  readonly method: string;
  readonly url: string;
  readonly accessToken: string | undefined;
  readonly nonce: string | undefined;
}) => Promise<string>;

export interface CallOptions {
  /** Ends the call; its promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Time limit of each attempt. Default: that of the client. */
  readonly timeoutMillis?: number | undefined;
  /** Further attempts after a failure that is safe to repeat. Default: that of the client. */
  readonly maxRetries?: number | undefined;
  /** Sent as `transactionId`; the service logs it. Default: the service makes one. */
  readonly requestId?: string | undefined;
  /** Additional headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface TransportOptions {
  readonly baseUrl: string;
  readonly fetch?: typeof globalThis.fetch | undefined;
  readonly timeoutMillis?: number | undefined;
  readonly maxRetries?: number | undefined;
  readonly dpop?: DpopProof | undefined;
  /** Called with the outcome of each attempt, for logs and metrics. */
  readonly onAttempt?: ((attempt: Attempt) => void) | undefined;
}

export interface Attempt {
  readonly method: string;
  readonly path: string;
  /** From 1. */
  readonly number: number;
  /** Undefined if no response came. */
  readonly status: number | undefined;
  readonly requestId: string | null;
}

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly query?: URLSearchParams | undefined;
  /** Serialized once, so that every attempt sends the same bytes; a function is called for each attempt. */
  readonly body?: string | (() => Promise<string>) | undefined;
  readonly accessToken?: string | undefined;
  /** The request may be sent again although the service may have carried it out. */
  readonly isRepeatable: boolean;
  readonly options: CallOptions;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

const defaultTimeoutMillis = 30_000;
const defaultMaxRetries = 2;
const firstDelayMillis = 500;
const longestDelayMillis = 8_000;
/** A longer `Retry-After` ends the call, so that the caller decides. */
const longestRetryAfterSeconds = 60;

/** Statuses after which a repeatable request is sent again. */
const transient = new Set([408, 429, 500, 502, 503, 504]);
/** Statuses after which any request is sent again, since the service has done nothing. */
const nothingDone = new Set([429, 503]);

/** Sends requests, and repeats those that failed for a while. */
export class Transport {
  readonly #base: URL;
  readonly #options: TransportOptions;
  #nonce: string | undefined;

  constructor(options: TransportOptions) {
    this.#base = new URL(options.baseUrl.endsWith('/') ? options.baseUrl : `${options.baseUrl}/`);
    this.#options = options;
  }

  /** Throws an ApiError for a response that is an error, and a ConnectionError without a response. */
  async send(request: Request): Promise<Reply> {
    const maxRetries = request.options.maxRetries ?? this.#options.maxRetries ?? defaultMaxRetries;
    for (let number = 1; ; number += 1) {
      try {
        return await this.#attempt(request, number);
      } catch (error) {
        request.options.signal?.throwIfAborted();
        if (number > maxRetries || !mayRepeat(request, error)) throw error;
        await sleep(delayMillis(number, error), request.options.signal);
      }
    }
  }

  async #attempt(request: Request, number: number): Promise<Reply> {
    const { method, path } = request;
    const tell = (status?: number, requestId: string | null = null) =>
      this.#options.onAttempt?.({ method, path, number, status, requestId });
    let response: Response;
    let text: string;
    try {
      response = await this.#fetch(request);
      text = await response.text();
    } catch (error) {
      tell();
      throw connectionError(error);
    }
    const { status, headers } = response;
    tell(status, headers.get('transactionid'));
    this.#nonce = headers.get('dpop-nonce') ?? this.#nonce;
    const isJson = /[/+]json\b/.test(headers.get('content-type') ?? '');
    const body = isJson && text !== '' ? parseJson(text) : undefined;
    if (response.ok) return { status, headers, body };
    throw errorOf(status, headers, (body ?? {}) as ProblemBody);
  }

  async #fetch({ method, path, query, body, accessToken, options }: Request): Promise<Response> {
    const url = new URL(path.slice(1), this.#base);
    const proofUrl = url.href;
    url.search = query?.toString() ?? '';
    const { dpop, fetch = globalThis.fetch, timeoutMillis = defaultTimeoutMillis } = this.#options;
    const headers: Record<string, string> = { accept: 'application/json', ...options.headers };
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (options.requestId !== undefined) headers.transactionid = options.requestId;
    if (accessToken !== undefined) {
      headers.authorization = `${dpop === undefined ? 'Bearer' : 'DPoP'} ${accessToken}`;
    }
    if (dpop !== undefined) {
      headers.dpop = await dpop({ method, url: proofUrl, accessToken, nonce: this.#nonce });
    }
    const limit = AbortSignal.timeout(options.timeoutMillis ?? timeoutMillis);
    const signal = options.signal === undefined ? limit : AbortSignal.any([limit, options.signal]);
    // A redirect could carry the token to another origin.
    const init: RequestInit = { method, headers, signal, redirect: 'error' };
    if (body !== undefined) init.body = typeof body === 'string' ? body : await body();
    return fetch(url, init);
  }
}

function mayRepeat({ isRepeatable }: Request, error: unknown): boolean {
  if (error instanceof ConnectionError) return isRepeatable;
  if (!(error instanceof ApiError)) return false;
  if (error.code === 'use_dpop_nonce') return true;
  if ((error.retryAfterSeconds ?? 0) > longestRetryAfterSeconds) return false;
  return isRepeatable ? transient.has(error.status) : nothingDone.has(error.status);
}

/** Doubles from half a second to eight, with jitter, and never less than `Retry-After`. */
function delayMillis(number: number, error: unknown): number {
  const { code, retryAfterSeconds = 0 } = error instanceof ApiError ? error : { code: '' };
  if (code === 'use_dpop_nonce') return 0;
  const longest = Math.min(longestDelayMillis, firstDelayMillis * 2 ** (number - 1));
  return retryAfterSeconds * 1000 + longest * (0.5 + Math.random() / 2);
}

function connectionError(error: unknown): unknown {
  const name = error instanceof Error ? error.name : '';
  if (name === 'TimeoutError')
    return new TimeoutError('No response within the time limit.', { cause: error });
  if (name === 'AbortError') return error;
  return new ConnectionError('The service could not be reached, or the connection broke.', { cause: error });
}

/** Rejects with the signal's reason if it is aborted. */
export function sleep(millis: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, millis);
    if (signal?.aborted === true) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
}
