/** What the client process is told to send, and what it tells of it. */

export type Traffic = 'transfers' | 'dry-run' | 'account' | 'profile' | 'page' | 'token';

export interface Job {
  readonly url: string;
  readonly traffic: Traffic;
  readonly connections: number;
  readonly warmupSeconds: number;
  readonly seconds: number;
  /** Sent at this constant rate, whatever comes back; left out, each connection sends when it has its answer. */
  readonly perSecond?: number;
  /** After a 503 the connection waits as long as it was told to. */
  readonly honourRetryAfter?: boolean;
  /** Which accounts pay: each alike (default), by Zipf's law with exponent 1.1, or the first alone. */
  readonly sources?: 'uniform' | 'zipf' | 'hot';
  /** The client's id and secret, for `token`. */
  readonly credentials?: { readonly clientId: string; readonly clientSecret: string };
  /** Whose tokens are sent (default `members`). */
  readonly as?: 'members' | 'flood';
  /** Where members' tokens and the number of accounts stand; null with `token`. */
  readonly people: People | null;
}

/** Bearers and their accounts: `tokens[i]` is of member `i * step`, whose accounts are the ten from ten times that. */
export interface People {
  readonly tokens: readonly string[];
  readonly step: number;
  readonly accounts: number;
  /** A client's token, for the one who floods. */
  readonly floodToken: string;
}

export const accountsPerMember = 10;

export function accountId(index: number): string {
  return `bench-${index}`;
}

export function customerId(member: number): string {
  return `bench-${member}`;
}

export interface JobResult {
  /** Answers of the wanted status a second, in the measured time. */
  readonly perSecond: number;
  /** By status, in the measured time. */
  readonly statuses: Readonly<Record<string, number>>;
  /** By status from the first to the last request, warming up included. */
  readonly allStatuses: Readonly<Record<string, number>>;
  /** Of the wanted answers; with a constant rate counted from when each request was due. */
  readonly millis: { readonly p50: number; readonly p99: number; readonly most: number };
  /** The same of those sent away with 503, where there were any. */
  readonly refusedMillis: { readonly p50: number; readonly p99: number } | null;
  /** With a constant rate: due, but every connection was busy until they were too old to matter. */
  readonly unsent: number;
  /** What an answer with a status nobody foresaw said. */
  readonly surprise: string | null;
}

export type ToClient = { readonly run: Job };
export type FromClient =
  | { readonly began: true }
  | { readonly ended: JobResult }
  | { readonly failed: string };
