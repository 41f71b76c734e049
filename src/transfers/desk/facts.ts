import type { LimitRow } from '../limit-queries.ts';
import type { AccountFacts } from '../queries.ts';
import type { TransferSettings } from '../settings/settings.ts';

/** What a batch read about its accounts, people and limits after the locks were taken, and the time that decides. */
export interface Facts {
  readonly settings: TransferSettings;
  readonly at: Date;
  /** The day of `at` where the institution is. */
  readonly day: string;
  account(accountId: string): AccountFacts | undefined;
  /** The person's holder record on the account, if any. */
  holding(accountKey: bigint, personKey: bigint): { readonly mayPay: boolean } | undefined;
  /** Persons with digital access who belong to the membership. */
  usersOf(customerKey: bigint): ReadonlySet<bigint>;
  readonly limits: readonly LimitRow[];
}

/** Clocks of processes differ by less than this; an account further ahead was written by a process whose clock had jumped. */
export const mostAheadMillis = 60_000;
