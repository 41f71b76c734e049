import type { Category } from './account-types.ts';

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

/** The ledger's figures of an account: credit positive, so that a debt is negative. */
export interface LedgerFigures {
  readonly posted: bigint;
  readonly heldOut: bigint;
  readonly creditLimit: bigint;
  /** Of a loan's debt what is not principal; 0 elsewhere. */
  readonly accruedInterest: bigint;
  readonly feesDue: bigint;
}

/**
 * What a member is shown. An overdraft line is in neither figure (12 CFR 1030.11(c)); it only raises what may be
 * spent. A loan shows the principal owed, a credit line what is owed and what of the line is unused.
 */
export function shownBalances(
  category: Category,
  figures: LedgerFigures,
): { readonly currentMinor: bigint; readonly availableMinor: bigint } {
  const { posted, heldOut } = figures;
  switch (category) {
    case 'DEPOSIT':
    case 'INVESTMENT':
      return { currentMinor: posted, availableMinor: posted - heldOut };
    case 'LOAN':
      return { currentMinor: -posted - figures.accruedInterest - figures.feesDue, availableMinor: 0n };
    case 'CREDIT':
      return { currentMinor: -posted, availableMinor: figures.creditLimit + posted - heldOut };
  }
}
