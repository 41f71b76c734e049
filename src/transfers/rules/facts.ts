import type { BusinessCalendar, Institution } from '../../institutions/index.ts';
import type { Book } from '../../ledger/index.ts';
import type { AccountFacts } from './accounts/account.ts';
import type { ContributionLimit } from './controls/contributions.ts';
import type { Counters, Limit } from './controls/limits.ts';
import type { Policy } from './controls/policies.ts';
import type { ScreeningRule } from './controls/screening.ts';

/** Everything that the rules know, besides balances and counters: read after the locks, at the time that decides. */
export interface Facts {
  readonly settings: TransferSettings;
  readonly at: Date;
  /** The institution's local day of `at`. */
  readonly day: string;
  account(accountId: string): AccountFacts | undefined;
  /** The person's holder record on the account, if any. */
  holding(accountKey: bigint, personKey: bigint): { readonly mayPay: boolean } | undefined;
  /** Persons with digital access who belong to the membership. */
  usersOf(customerKey: bigint): ReadonlySet<bigint>;
  readonly limits: readonly Limit[];
  /** Null if the institution's own ledger is the record. */
  readonly core: { readonly isAway: boolean } | null;
}

/** The state that an order is judged on: accounts and counters as the earlier orders of its batch left them. */
export interface Ground {
  readonly facts: Facts;
  readonly book: Book;
  readonly counters: Counters;
}

/** Settings of an institution, which rarely change; at most a second old. */
export interface TransferSettings {
  readonly institution: Institution;
  readonly policies: readonly Policy[];
  readonly calendar: BusinessCalendar;
  /** The institution's own, where they differ from the published ones. */
  readonly contributionLimits: readonly ContributionLimit[];
  /** They name the counters to lock. The limits that bind an order are read behind the locks. */
  readonly recentLimits: readonly Limit[];
  /** A new prefix binds within a second; the database refuses a breach at once. */
  readonly idPrefixes: readonly IdPrefix[];
  /** Null: the institution screens no orders. */
  readonly screening: ScreeningRule | null;
}

/** Transfer ids that begin with the prefix are reserved for the client. */
export interface IdPrefix {
  readonly prefix: string;
  readonly clientId: string;
}
