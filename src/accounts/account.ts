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

/** What must be known of an account to read its history. */
export interface FoundAccount {
  readonly accountKey: bigint;
  readonly category: Category;
  readonly currency: string;
  readonly creditLimit: bigint;
}

/** An account as its core knows it, without its money. Amounts are minor units of `currency`, none negative. */
export interface NewAccount {
  readonly accountId: string;
  /** Whose membership it is under; null for the institution's own accounts, which have a purpose instead. */
  readonly customerKey: bigint | null;
  readonly purpose: 'FUNDING' | 'CORE_SETTLEMENT' | 'SUSPENSE' | null;
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
  /** LOAN only: what part of the debt is not principal. */
  readonly accruedInterest: bigint;
  readonly feesDue: bigint;
  /** Of a loan: what must be paid for it to be in good standing. */
  readonly amountDue?: bigint | undefined;
  /** EXCLUDE_ALL, EXCLUDE_AS_FROM or EXCLUDE_AS_TO: what transfers the account takes no part in. */
  readonly transferRestriction?: string | null | undefined;
}

/** What the ledger knows of an account, in minor units: credit is positive, so that a debt is negative. */
export interface LedgerFigures {
  readonly category: Category;
  readonly posted: bigint;
  readonly debitsPending: bigint;
  readonly creditLimit: bigint;
  /** What part of a loan's debt is not principal; 0 elsewhere. */
  readonly accruedInterest: bigint;
  readonly feesDue: bigint;
}

/**
 * The two balances a holder is shown, in minor units. DEPOSIT and INVESTMENT: what is posted, and that minus holds;
 * an overdraft line is in neither (12 CFR 1030.11(c)), it only raises what may be spent. LOAN: the principal owed,
 * and nothing to draw. CREDIT: what is owed, and what is left of the line. Money owed is positive.
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

/** An amount of the ledger, credit positive, as the holder of such an account sees it: what is owed is positive. */
export function asShown(category: Category, minor: bigint): bigint {
  return category === 'LOAN' || category === 'CREDIT' ? -minor : minor;
}
