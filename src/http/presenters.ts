import type { Account, Balances, Transaction } from '../accounts/index.ts';
import type { Profile } from '../members/index.ts';
import { formatMinor, type Transfer } from '../transfers/index.ts';

declare global {
  interface JSON {
    /** ECMAScript 2026; not in TypeScript's library yet. */
    rawJSON(text: string): object;
  }
}

export function presentProfile(profile: Profile) {
  const { userId, firstName, lastName, emailAddress, userRole, userType, userStatus, customers } = profile;
  return {
    userId,
    firstName,
    lastName,
    emailAddress,
    userRole,
    userType,
    userStatus: { active: userStatus.active, locked: userStatus.locked },
    customers: customers.map(({ customerId, memberNumber }) => ({ customerId, memberNumber })),
    phoneNumbers: profile.phoneNumbers.map(({ phoneNumber, phoneType }) => ({ phoneNumber, phoneType })),
  };
}

export function presentAccount(account: Account) {
  const { accountId, accountNumber, category, currency, open, closed, delinquent } = account;
  return {
    accountId,
    accountNumber,
    accountType: { DIAccountType: account.diAccountType, description: account.description },
    category,
    balance: {
      availableBalance: presentMoney(account.availableMinor, currency),
      currentBalance: presentMoney(account.currentMinor, currency),
    },
    accountStatus: { open, closed, delinquent },
  };
}

export function presentTransaction(transaction: Transaction) {
  const { id, at, type, description, currency, balanceMinor, pending, credit, transferId } = transaction;
  return {
    id,
    transactionDate: at.toISOString(),
    type,
    description,
    amount: presentMoney(transaction.amountMinor, currency),
    ...(balanceMinor !== null && { ledgerBalance: presentMoney(balanceMinor, currency) }),
    isPending: pending,
    isCreditTransaction: credit,
    ...(transferId !== null && { transferId }),
  };
}

export function presentBalances({ accountId, asOf, availableMinor, currentMinor, currency }: Balances) {
  return {
    accountId,
    asOf: asOf.toISOString(),
    balance: {
      availableBalance: presentMoney(availableMinor, currency),
      currentBalance: presentMoney(currentMinor, currency),
    },
  };
}

export function presentTransfer(transfer: Transfer) {
  const { id, transferType, fromAccountId, toAccountId, currencyCode, status, failureCode } = transfer;
  return {
    id,
    ...(transferType !== undefined && { transferType }),
    fromAccountId,
    toAccountId,
    amount: exactNumber(transfer.amountMinor, currencyCode),
    currencyCode,
    status,
    createdAt: transfer.createdAt.toISOString(),
    ...(failureCode !== undefined && { failureCode }),
  };
}

function presentMoney(minor: bigint, currencyCode: string) {
  return { amount: exactNumber(minor, currencyCode), currencyCode };
}

/** A JSON number with all its decimals, never through a float: 105.00 is written as 105.00. */
function exactNumber(minor: bigint, currency: string) {
  return JSON.rawJSON(formatMinor(minor, currency));
}
