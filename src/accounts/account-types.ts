/** The category of an account for its holder. */
export type Category = 'DEPOSIT' | 'LOAN' | 'CREDIT' | 'INVESTMENT';

export interface AccountType {
  /** INTERNAL accounts are the institution's own. No member holds or sees one. */
  readonly category: Category | 'INTERNAL';
  /** The description of such an account if the core has none. */
  readonly description: string;
}

/**
 * Every value of `DIAccountType` with its category. A retirement savings account (IRA) is a deposit. A debt that can be
 * drawn again once repaid is CREDIT; a debt that is only paid down is LOAN. An account of unknown type counts as a share.
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

/** Undefined for any other text than a DIAccountType. */
export function categoryOf(diAccountType: string): Category | 'INTERNAL' | undefined {
  return accountTypes.get(diAccountType)?.category;
}
