import {
  type AccountState,
  allotLoanPayment,
  type Bounds,
  type LoanPaymentOption,
  type LoanPaymentParts,
  unbounded,
} from '../../../ledger/index.ts';
import type { AccountFacts, LoanDues } from './account.ts';

/** The parts of a payment on a loan, in minor units; negative if a reversal takes the payment back. */
export interface LoanPayment {
  readonly accountKey: bigint;
  readonly seq: bigint;
  readonly toFees: bigint;
  readonly toInterest: bigint;
  readonly toPrincipal: bigint;
  /** The part that counted toward the amount due. */
  readonly toDue: bigint;
  /** The payment covered the amount due, so the loan is in good standing from then on. */
  readonly meetsDue: boolean;
}

/** A deposit stops at its overdraft line, a debt at zero, because its balance is minus the payoff. */
export function boundsOf(account: AccountFacts, option: LoanPaymentOption = 'DEFAULT'): Bounds {
  if (account.category !== 'LOAN' && account.category !== 'CREDIT') {
    return { ...unbounded, floor: -account.overdraftLimit };
  }
  // A payment of principal alone stops when only interest and fees are left.
  const kept = option === 'PRINCIPAL_ONLY' && account.loan ? account.loan.interest + account.loan.fees : 0n;
  return { ...unbounded, ceiling: -kept };
}

/** The most that the payment option allows; null: only the account's bounds apply. */
export function optionHeadroom(account: AccountFacts, option: LoanPaymentOption): bigint | null {
  return option === 'INTEREST_ONLY' ? (account.loan?.interest ?? 0n) : null;
}

export interface AskedPayment {
  readonly amountMinor: bigint;
  readonly option: LoanPaymentOption;
}

/**
 * Splits an accepted payment when it posts. While it was pending, another payment may have paid the intended part, or the
 * core may have lowered the debt: then it is split as DEFAULT, and the excess goes to principal.
 */
export function splitPayment(
  { amountMinor, option }: AskedPayment,
  dues: LoanDues,
  before: AccountState,
): LoanPaymentParts {
  const principal = -before.posted - dues.interest - dues.fees;
  const owed = {
    principalMinor: principal > 0n ? principal : 0n,
    interestMinor: dues.interest,
    feesMinor: dues.fees,
    amountDueMinor: dues.amountDue,
  };
  for (const way of [option, 'DEFAULT'] as const) {
    const parts = allotLoanPayment(amountMinor, way, owed);
    if (!('refused' in parts)) return parts;
  }
  const toFeesMinor = dues.fees < amountMinor ? dues.fees : amountMinor;
  const rest = amountMinor - toFeesMinor;
  const toInterestMinor = dues.interest < rest ? dues.interest : rest;
  return {
    toFeesMinor,
    toInterestMinor,
    toPrincipalMinor: rest - toInterestMinor,
    toAmountDueMinor: dues.amountDue < amountMinor ? dues.amountDue : amountMinor,
  };
}
