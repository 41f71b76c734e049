/** What an account is to its holder. */
export type Category = 'DEPOSIT' | 'LOAN' | 'CREDIT' | 'INVESTMENT';

export interface AccountType {
  /** INTERNAL: the institution's own, never a member's and never shown. */
  readonly category: Category | 'INTERNAL';
  /** What such an account is called where the core has no words of its own for it. */
  readonly description: string;
}

/**
 * Every value of `DIAccountType` and what it means here. A retirement account of savings (IRA) is a deposit;
 * what can be drawn again once repaid is CREDIT, what is only paid down is LOAN. An account whose type the core
 * does not know is taken for a share of some kind.
 */
export const accountTypes: ReadonlyMap<string, AccountType> = new Map<string, AccountType>([
  ['SAVINGS', { category: 'DEPOSIT', description: 'Share Savings' }],
  ['CHECKING', { category: 'DEPOSIT', description: 'Share Draft' }],
  ['MONEY_MARKET', { category: 'DEPOSIT', description: 'Money Market' }],
  ['CERT_OF_DEPOSIT', { category: 'DEPOSIT', description: 'Share Certificate' }],
  ['CSI_CERT_OF_DEPOSIT', { category: 'DEPOSIT', description: 'Share Certificate' }],
  ['RETIREMENT_IRA', { category: 'DEPOSIT', description: 'Individual Retirement Account' }],
  ['UNKNOWN', { category: 'DEPOSIT', description: 'Account' }],
  ['BROKERAGE', { category: 'INVESTMENT', description: 'Brokerage' }],
  ['KEOGH', { category: 'INVESTMENT', description: 'Keogh Plan' }],
  ['RETIREMENT_401K', { category: 'INVESTMENT', description: '401(k)' }],
  ['CREDIT_CARD_LOAN', { category: 'CREDIT', description: 'Credit Card' }],
  ['LINE_OF_CREDIT_LOAN', { category: 'CREDIT', description: 'Line of Credit' }],
  ['TCL_CREDIT_LINE', { category: 'CREDIT', description: 'Commercial Line of Credit' }],
  ['INSTALLMENT_LOAN', { category: 'LOAN', description: 'Installment Loan' }],
  ['CONSUMER_LOAN', { category: 'LOAN', description: 'Consumer Loan' }],
  ['COMMERCIAL_LOAN', { category: 'LOAN', description: 'Commercial Loan' }],
  ['COMMERCIAL_REFI_LOAN', { category: 'LOAN', description: 'Commercial Refinance Loan' }],
  ['MORTGAGE_LOAN', { category: 'LOAN', description: 'Mortgage' }],
  ['RESIDENTIAL_MORTGAGE_LOAN', { category: 'LOAN', description: 'Residential Mortgage' }],
  ['HOME_EQUITY_LOAN', { category: 'LOAN', description: 'Home Equity Loan' }],
  ['TCL_MASTER', { category: 'LOAN', description: 'Commercial Loan Agreement' }],
  ['TCL_NOTE', { category: 'LOAN', description: 'Commercial Loan Note' }],
  ['GENERAL_LEDGER_ACCOUNT', { category: 'INTERNAL', description: 'General Ledger Account' }],
  ['GENERAL_LEDGER_CODE', { category: 'INTERNAL', description: 'General Ledger Code' }],
]);

/** Undefined for what is no DIAccountType. */
export function categoryOf(diAccountType: string): Category | 'INTERNAL' | undefined {
  return accountTypes.get(diAccountType)?.category;
}
