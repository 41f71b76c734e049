/**
 * The connection to the institution's core while both are at work. `intake/` takes the core's transactions and authorizations.
 *
 * Owns core_transactions and core_authorizations. Invariants: each id of the core is posted once, for ever; each entry of kind CORE
 * has its row in core_transactions, and the amount that the core holds on an account is that of its open authorizations.
 */
export { expireAuthorizations } from './intake/expire-authorizations.ts';
export { SlowLineError, TruncatedError } from './intake/lines.ts';
export { readTransactions } from './intake/read-lines.ts';
export { type Answer, type Counts, takeTransactions } from './intake/take-transactions.ts';
export { coreKinds, lineStatuses } from './intake/transaction-line.ts';
