import type { Category } from './account-types.ts';

/** An account as its holder sees it. Amounts are minor units of `currency`; `open` is the opposite of `closed`. */
export interface Account {
  readonly accountId: string;
  readonly accountNumber: string;
  readonly diAccountType: string;
  readonly description: string;
  readonly category: Category;
  readonly currency: string;
  readonly availableMinor: bigint;
  readonly currentMinor: bigint;
  readonly open: boolean;
  readonly closed: boolean;
  readonly delinquent: boolean;
}

/** The purposes of accounts of the institution itself, which has one of each in a currency. CORE_* is the other side of one kind of the core's postings. */
export const purposes = [
  'FUNDING',
  'CORE_SETTLEMENT',
  'SUSPENSE',
  'CORE_CARD',
  'CORE_ACH',
  'CORE_CHECK',
  'CORE_FEE',
  'CORE_INTEREST',
  'CORE_DIVIDEND',
  'CORE_ATM',
  'CORE_TELLER',
  'CORE_WIRE',
  'CORE_LOAN_PAYMENT',
  'CORE_TRANSFER',
  'CORE_ADJUSTMENT',
] as const;
type Purpose = (typeof purposes)[number];

/** An account as its core knows it, without its money. Amounts are minor units of `currency`, none negative. */
export interface NewAccount {
  readonly accountId: string;
  /** The membership of the account; null for the institution's own accounts, which have a purpose instead. */
  readonly customerKey: bigint | null;
  readonly purpose: Purpose | null;
  /** A card's last four digits, never more. */
  readonly accountNumber: string;
  readonly diAccountType: string;
  readonly description: string;
  readonly currency: string;
  readonly closed: boolean;
  readonly delinquent: boolean;
  /** DEPOSIT only. */
  readonly overdraftLimit: bigint;
  /** CREDIT only. */
  readonly creditLimit: bigint;
  /** LOAN only: the parts of the debt beside the principal. */
  readonly accruedInterest: bigint;
  readonly feesDue: bigint;
  /** LOAN only: the payment that brings the loan into good standing. */
  readonly amountDue?: bigint | undefined;
  /** EXCLUDE_ALL, EXCLUDE_AS_FROM or EXCLUDE_AS_TO: the transfers that the account refuses. */
  readonly transferRestriction?: string | null | undefined;
}

/** The ledger's figures of an account, in minor units. Credit is positive, so a debt is negative. */
export interface LedgerFigures {
  readonly category: Category;
  readonly posted: bigint;
  readonly debitsPending: bigint;
  readonly creditLimit: bigint;
  /** The parts of a loan's debt beside the principal; 0 for other accounts. */
  readonly accruedInterest: bigint;
  readonly feesDue: bigint;
}

/**
 * The current and available balances as the holder sees them, in minor units. DEPOSIT and INVESTMENT: the posted balance,
 * and that less holds; an overdraft line counts in neither (12 CFR 1030.11(c)) and only raises the spending limit. LOAN: the
 * principal owed, and 0. CREDIT: the amount owed, and the rest of the line. Debts are positive.
 */
export function accountBalances(figures: LedgerFigures): { currentMinor: bigint; availableMinor: bigint } {
  const { category, posted, debitsPending, creditLimit, accruedInterest, feesDue } = figures;
  switch (category) {
    case 'DEPOSIT':
    case 'INVESTMENT':
      return { currentMinor: posted, availableMinor: posted - debitsPending };
    case 'LOAN':
      return { currentMinor: -posted - accruedInterest - feesDue, availableMinor: 0n };
    case 'CREDIT':
      return { currentMinor: -posted, availableMinor: creditLimit + posted - debitsPending };
  }
}

/** Converts an amount of the ledger (credit positive) to the holder's view, where a debt is positive. */
export function asShown(category: Category, minor: bigint): bigint {
  return category === 'LOAN' || category === 'CREDIT' ? -minor : minor;
}
