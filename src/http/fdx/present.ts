import type { Account } from '../../accounts/index.ts';
import type { Transaction } from '../../feed/index.ts';
import type { Profile } from '../../members/index.ts';
import { exactNumber } from '../presenters.ts';

/** Our types in the words of FDX 6. docs/fdx.md has the same tables for readers. */

export const accountCategories = {
  DEPOSIT: 'DEPOSIT_ACCOUNT',
  LOAN: 'LOAN_ACCOUNT',
  CREDIT: 'LOC_ACCOUNT',
  INVESTMENT: 'INVESTMENT_ACCOUNT',
} as const satisfies Record<Account['category'], string>;

export const accountStatuses = ['OPEN', 'CLOSED', 'DELINQUENT'] as const;

/** By `DIAccountType`. The IRA is a deposit here, and FDX has no type for it among deposits. */
const accountTypesOfFdx: ReadonlyMap<string, string> = new Map([
  ['SAVINGS', 'SAVINGS'],
  ['CHECKING', 'CHECKING'],
  ['MONEY_MARKET', 'MONEYMARKET'],
  ['CERT_OF_DEPOSIT', 'CD'],
  ['CSI_CERT_OF_DEPOSIT', 'CD'],
  ['BROKERAGE', 'BROKERAGEPRODUCT'],
  ['KEOGH', 'KEOGH'],
  ['RETIREMENT_401K', '401K'],
  ['CREDIT_CARD_LOAN', 'CREDITCARD'],
  ['INSTALLMENT_LOAN', 'INSTALLMENT'],
  ['CONSUMER_LOAN', 'PERSONALLOAN'],
  ['MORTGAGE_LOAN', 'MORTGAGE'],
  ['RESIDENTIAL_MORTGAGE_LOAN', 'MORTGAGE'],
  ['HOME_EQUITY_LOAN', 'HOMEEQUITYLOAN'],
]);
const otherTypes = {
  DEPOSIT: 'OTHERDEPOSIT',
  LOAN: 'LOAN',
  CREDIT: 'LINEOFCREDIT',
  INVESTMENT: 'OTHERINVESTMENT',
} as const satisfies Record<Account['category'], string>;

type TransactionTypes = Partial<Record<Transaction['type'], string>>;

const ofDebts: TransactionTypes = {
  PAYMENT: 'PAYMENT',
  SERVICE_CHARGE: 'FEE',
  INTEREST_POSTING: 'INTEREST',
  CREDIT_ADJUSTMENT: 'ADJUSTMENT',
  DEBIT_ADJUSTMENT: 'ADJUSTMENT',
};
/** FDX's deposits have no type of transaction. */
const transactionTypesOfFdx: Record<Account['category'], TransactionTypes> = {
  DEPOSIT: {},
  LOAN: ofDebts,
  CREDIT: {
    ...ofDebts,
    CHECK: 'CHECK',
    POS_PURCHASE: 'PURCHASE',
    TRANSFER_DEBIT: 'WITHDRAWAL',
    WITHDRAWAL: 'WITHDRAWAL',
    ATM_WITHDRAWAL: 'WITHDRAWAL',
  },
  INVESTMENT: {
    SERVICE_CHARGE: 'FEE',
    INTEREST_POSTING: 'INTEREST',
    DIVIDEND: 'DIVIDEND',
    CREDIT_ADJUSTMENT: 'ADJUSTMENT',
    DEBIT_ADJUSTMENT: 'ADJUSTMENT',
    TRANSFER_CREDIT: 'TRANSFER',
    TRANSFER_DEBIT: 'TRANSFER',
    DEPOSIT: 'DEPOSIT',
    DIRECT_DEPOSIT: 'DIRECTDEP',
    CHECK: 'CHECK',
  },
};

const phonePurposes = {
  MOBILE: { type: 'PERSONAL', network: 'CELLULAR' },
  HOME: { type: 'HOME' },
  WORK: { type: 'BUSINESS' },
} as const;

export function presentFdxCustomer({ userId, firstName, lastName, emailAddress, phoneNumbers }: Profile) {
  return {
    customerId: userId,
    name: { first: firstName, last: lastName },
    email: [emailAddress],
    telephones: phoneNumbers.map(({ phoneNumber, phoneType }) => ({
      number: phoneNumber,
      ...phonePurposes[phoneType],
    })),
  };
}

/** Without balances. */
export function presentFdxDescriptor(account: Account) {
  const { accountId, accountNumber, category, diAccountType, description, currency, closed } = account;
  return {
    accountCategory: accountCategories[category],
    accountId,
    accountType: accountTypesOfFdx.get(diAccountType) ?? otherTypes[category],
    accountNumberDisplay: accountNumber.slice(-4),
    productName: description,
    status: closed ? 'CLOSED' : account.delinquent ? 'DELINQUENT' : 'OPEN',
    currency: { currencyCode: currency },
  };
}

/** `balancesAsOf`: the time that the balances are true for, if the core that keeps the books is away. */
export function presentFdxAccount(account: Account, balancesAsOf: Date | null) {
  return {
    ...presentFdxDescriptor(account),
    ...(balancesAsOf !== null && { balanceAsOf: balancesAsOf.toISOString() }),
    ...balancesOf(account),
  };
}

function balancesOf({ category, currency, currentMinor, availableMinor }: Account) {
  const current = exactNumber(currentMinor, currency);
  const available = exactNumber(availableMinor, currency);
  switch (category) {
    case 'DEPOSIT':
      return { currentBalance: current, availableBalance: available };
    case 'LOAN':
      return { principalBalance: current };
    case 'CREDIT':
      return { currentBalance: current, availableCredit: available };
    case 'INVESTMENT':
      return { currentValue: current, availableCashBalance: available };
  }
}

export function presentFdxTransaction(transaction: Transaction, category: Account['category']) {
  const { id, at, type, pending, credit, currency, amountMinor } = transaction;
  const transactionType = transactionTypesOfFdx[category][type];
  const payee = transaction.merchant ?? transaction.counterparty?.name ?? null;
  const checkNumber = checkNumberOf(transaction.checkNumber);
  return {
    accountCategory: accountCategories[category],
    transactionId: id,
    transactionTimestamp: at.toISOString(),
    ...(!pending && { postedTimestamp: at.toISOString() }),
    ...(transactionType !== undefined && { transactionType }),
    description: transaction.description,
    debitCreditMemo: credit ? 'CREDIT' : 'DEBIT',
    status: pending ? 'PENDING' : 'POSTED',
    amount: exactNumber(amountMinor < 0n ? -amountMinor : amountMinor, currency),
    ...(transaction.category !== null && { category: transaction.category }),
    ...(category === 'DEPOSIT' && !credit && payee !== null && { payee }),
    ...((category === 'DEPOSIT' || category === 'CREDIT') && checkNumber !== undefined && { checkNumber }),
  };
}

/** FDX has an integer. The core may state any text. */
function checkNumberOf(text: string | null): number | undefined {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
