/**
 * Read models that join the tables of several modules: the feed of events, and an account's history. Writes nothing.
 *
 * Invariants: a page of the feed never holds an event of a transaction that an older running one may still precede, so that
 * no reader skips one; a transaction of an account appears once, pending or posted.
 */
export { type EffectiveBalances, getEffectiveBalances } from './effective-balance.ts';
export {
  type FeedEvent,
  type FeedStart,
  findEvent,
  firstNumberOf,
  positionOfNumber,
  readEvents,
  readEventsBehind,
} from './feed.ts';
export {
  type Counterparty,
  listTransactions,
  type Transaction,
  type TransactionFilter,
  type TransactionSearch,
  transactionTypes,
} from './list-transactions.ts';
