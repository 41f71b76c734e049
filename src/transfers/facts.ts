import type { AccountFacts, LimitRow } from './queries.ts';

/** What a batch read about its accounts, people and limits after the locks were taken. */
export interface Facts {
  readonly defaultCurrency: string;
  account(accountId: string): AccountFacts | undefined;
  /** The person's holder record on the account, if any. */
  holding(accountKey: bigint, personKey: bigint): { readonly mayPay: boolean } | undefined;
  /** Persons with digital access who belong to the membership. */
  usersOf(customerKey: bigint): ReadonlySet<bigint>;
  readonly limits: readonly LimitRow[];
}
