/** Messages between the bench and its client process: the job, and its result. */

/** `accounts` lists those of a member; `unchanged` asks for an account with If-None-Match and gets 304. */
export type Traffic =
  | 'transfers'
  | 'dry-run'
  | 'account'
  | 'unchanged'
  | 'accounts'
  | 'profile'
  | 'page'
  | 'token';

export interface Job {
  readonly url: string;
  readonly traffic: Traffic;
  readonly connections: number;
  readonly warmupSeconds: number;
  readonly seconds: number;
  /** A constant rate, independent of responses. Without it each connection sends when its response arrives. */
  readonly perSecond?: number;
  /** Waits for the Retry-After on a connection that got 503. */
  readonly honourRetryAfter?: boolean;
  /** Source accounts: all equally often (default), by Zipf's law with exponent 1.1, only the first, or one after the other. */
  readonly sources?: 'uniform' | 'zipf' | 'hot' | 'each';
  /** The client's id and secret, for `token`. */
  readonly credentials?: { readonly clientId: string; readonly clientSecret: string };
  /** Bearers of the tokens (default `members`). */
  readonly as?: 'members' | 'flood';
  /** The members' tokens and the number of accounts; null for the traffic `token`. */
  readonly people: People | null;
}

/** Bearers and their accounts: `tokens[i]` belongs to member `m = i * step`, with the accounts `10 m` to `10 m + 9`. */
export interface People {
  readonly tokens: readonly string[];
  readonly step: number;
  readonly accounts: number;
  /** Accounts with neighboring indexes, which may pay one another. */
  readonly accountsPerInstitution: number;
  /** The token of the client that floods. */
  readonly floodToken: string;
  /** The token of the core's connector. */
  readonly connectorToken: string;
}

export const accountsPerMember = 10;

export function accountId(index: number): string {
  return `bench-${index}`;
}

export function customerId(member: number): string {
  return `bench-${member}`;
}

export interface JobResult {
  /** Responses of the wanted status per second, in the measured time. */
  readonly perSecond: number;
  /** Responses by status, in the measured time. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Responses by status, including the warm-up. */
  readonly allStatuses: Readonly<Record<string, number>>;
  /** Latency of the wanted responses; with a constant rate it counts from the due time of each request. */
  readonly millis: { readonly p50: number; readonly p99: number; readonly most: number };
  /** Latency of the 503 responses; null without any. */
  readonly refusedMillis: { readonly p50: number; readonly p99: number } | null;
  /** With a constant rate: requests dropped because no connection was free in time. */
  readonly unsent: number;
  /** Status and text of the first response with an unexpected status. */
  readonly unexpected: string | null;
}

export type ToClient = { readonly run: Job };
export type FromClient =
  | { readonly began: true }
  | { readonly ended: JobResult }
  | { readonly failed: string };
