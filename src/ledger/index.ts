/**
 * The ledger: money, the pure rules, balances and entries, of which it is the only writer.
 *
 * Invariants, each held by code and by the database: credit is positive and every posting sums to zero; entries are
 * numbered per account without a gap and never change; a balance equals its newest entry; no new order takes an
 * account below its floor or above its ceiling.
 */
export { AccountsBusyError, Book, type Refusal, type Side } from './book.ts';
export { currencyDecimals } from './currencies.ts';
export {
  allotLoanPayment,
  type LoanPaymentOption,
  type LoanPaymentParts,
  loanPaymentOptions,
} from './loan-payment.ts';
export { type DecimalAmount, formatMinor, parseDecimalAmount, toMinor } from './money.ts';
export { openBalances } from './open-balances.ts';
export { PostingKeys, takePostingKeys } from './posting-keys.ts';
export { closeBalance, type EntryKind } from './queries.ts';
export {
  type AccountState,
  type Bounds,
  type Change,
  headroomIn,
  headroomOut,
  unbounded,
} from './rules.ts';
export {
  countingClassCodes,
  type ListClass,
  listClasses,
  pendingClasses,
  pendingCodesBelow,
  type TransferStatus,
  type TransferType,
  transferTypes,
} from './transfer-classes.ts';
