/**
 * Owns accounts: their descriptions, their memberships, their holders and the dues of loans.
 *
 * Invariants: a member sees an account only by a holder record that names them, read in the same statement as the
 * account; no member sees an internal account; an account opens at a balance of zero, and only the ledger
 * moves it from there.
 */
export { type Account, accountBalances, asShown, type NewAccount, purposes } from './account.ts';
export { accountTypes, type Category } from './account-types.ts';
export { findAccount } from './find-account.ts';
export { getAccount } from './get-account.ts';
export { type Balances, getBalances } from './get-balances.ts';
export { insertAccounts } from './insert-accounts.ts';
export { listAccounts, listCustomerAccounts } from './list-accounts.ts';
export { reduceLoanDues } from './loan-dues.ts';
export {
  type AccountChanges,
  changeLoanRange,
  countAccountChanges,
  type Figures,
  type ImportedAccount,
  mergeAccountRange,
  selectAccountsToMove,
  selectFigures,
  selectLoansToChange,
} from './merge-queries.ts';
export { type FoundAccount, insertPrimaryHolder, selectExistingIds } from './queries.ts';
export {
  type AccountStanding,
  type Restriction,
  selectStanding,
  updateClosed,
  updateRestriction,
} from './standing/standing-queries.ts';
