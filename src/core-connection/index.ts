/**
 * The connection to the institution's core while both are at work. `intake/` takes the core's transactions, authorizations and records,
 * `instructions/` hands out what the core must do, `files/` the same as files, `standing/` knows whether the core
 * is there, and `breaks/` names the differences of both books.
 *
 * Owns core_transactions, core_authorizations, core_connections, core_breaks with their notes, and core_comparisons. Invariants: each id of the core is posted once, for ever; each
 * entry of kind CORE has its row in core_transactions, and the amount that the core holds on an account is that of its open
 * authorizations; an instruction is delivered at least once, in the order of its accounts, to one client at a time; a request
 * that waits holds no connection of the database.
 */

export { MappingError, recordKinds } from '../core-system/index.ts';
export { adjustBreak } from './breaks/adjust-break.ts';
export {
  type Break,
  type BreakClass,
  breakClasses,
} from './breaks/break.ts';
export { type BreakChange, changeBreak } from './breaks/change-break.ts';
export {
  type CompareRequest,
  type ComparisonReport,
  compareBalances,
  TooManyDifferencesError,
} from './breaks/compare-balances.ts';
export { readBalancesFile } from './breaks/delivery/read-balances.ts';
export { followBreaks } from './breaks/follow-breaks.ts';
export { selectCoresToTend } from './breaks/follow-queries.ts';
export {
  type BreakFilter,
  type BreakWithStory,
  findBreak,
  listBreaks,
  searchBreaks,
} from './breaks/read-breaks.ts';
export { acknowledgeFile } from './files/acknowledge-file.ts';
export { exportInstructions, rewriteFile } from './files/export-instructions.ts';
export { InstructionFileError } from './files/instruction-file.ts';
export { askInstructions, type InstructionRequest } from './instructions/ask-instructions.ts';
export { CoreWatch } from './instructions/core-watch.ts';
export { expireAuthorizations } from './intake/expire-authorizations.ts';
export { exists, importTransactions, transactionsFile } from './intake/import-transactions.ts';
export { SlowLineError, TruncatedError } from './intake/lines.ts';
export { readBalances, readRecords, readTransactions } from './intake/read-lines.ts';
export type { Answer } from './intake/take-delivery.ts';
export { type RecordCounts, type RecordResult, takeRecordLines } from './intake/take-records.ts';
export {
  type TransactionCounts,
  type TransactionResult,
  takeTransactions,
} from './intake/take-transactions.ts';
export { coreKinds, lineStatuses } from './intake/transaction-line.ts';
export { ConnectionStates, type CoreConnection } from './standing/connection-states.ts';
