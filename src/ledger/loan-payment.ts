export const loanPaymentOptions = [
  'DEFAULT',
  'PRINCIPAL_ONLY',
  'INTEREST_ONLY',
  'EXCESS_TO_PRINCIPAL',
] as const;
export type LoanPaymentOption = (typeof loanPaymentOptions)[number];

/** A loan before a payment, in minor units, none negative. The payoff is principal, interest and fees together. */
export interface LoanOwed {
  readonly principalMinor: bigint;
  /** Accrued until now. */
  readonly interestMinor: bigint;
  readonly feesMinor: bigint;
  /** The amount that the member must pay by the next due date. */
  readonly amountDueMinor: bigint;
}

export interface LoanPaymentParts {
  readonly toFeesMinor: bigint;
  readonly toInterestMinor: bigint;
  readonly toPrincipalMinor: bigint;
  /** The part of the payment that counts toward the amount due; a loan without an amount due is not delinquent. */
  readonly toAmountDueMinor: bigint;
}

export type LoanPaymentRefusal = 'exceeds_payoff' | 'exceeds_principal' | 'exceeds_interest';

/**
 * Splits a payment. The parts add up to it; none is negative or more than the debt.
 *
 * - DEFAULT: fees, then interest, then principal.
 * - PRINCIPAL_ONLY: an extra payment, which neither pays fees and interest nor counts toward the amount due.
 * - INTEREST_ONLY: interest alone.
 * - EXCESS_TO_PRINCIPAL: the amount due as by default, the rest to principal before interest that is not due yet.
 *
 * Refused: more than the payoff; with the one-part options more than that part.
 */
export function allotLoanPayment(
  amountMinor: bigint,
  option: LoanPaymentOption,
  owed: LoanOwed,
): LoanPaymentParts | { readonly refused: LoanPaymentRefusal } {
  const { principalMinor, interestMinor, feesMinor, amountDueMinor } = owed;
  if (amountMinor > principalMinor + interestMinor + feesMinor) return { refused: 'exceeds_payoff' };
  switch (option) {
    case 'PRINCIPAL_ONLY':
      if (amountMinor > principalMinor) return { refused: 'exceeds_principal' };
      return { toFeesMinor: 0n, toInterestMinor: 0n, toPrincipalMinor: amountMinor, toAmountDueMinor: 0n };
    case 'INTEREST_ONLY':
      if (amountMinor > interestMinor) return { refused: 'exceeds_interest' };
      return inOrder(amountMinor, { ...owed, feesMinor: 0n, principalMinor: 0n });
    case 'DEFAULT':
      return inOrder(amountMinor, owed);
    case 'EXCESS_TO_PRINCIPAL': {
      const due = inOrder(least(amountMinor, amountDueMinor), owed);
      const excessMinor = amountMinor - due.toFeesMinor - due.toInterestMinor - due.toPrincipalMinor;
      const toPrincipalMinor = least(excessMinor, principalMinor - due.toPrincipalMinor);
      // Only a payment of the whole loan has a rest here.
      const rest = inOrder(excessMinor - toPrincipalMinor, {
        principalMinor: 0n,
        interestMinor: interestMinor - due.toInterestMinor,
        feesMinor: feesMinor - due.toFeesMinor,
        amountDueMinor: 0n,
      });
      return {
        toFeesMinor: due.toFeesMinor + rest.toFeesMinor,
        toInterestMinor: due.toInterestMinor + rest.toInterestMinor,
        toPrincipalMinor: due.toPrincipalMinor + toPrincipalMinor,
        toAmountDueMinor: due.toAmountDueMinor,
      };
    }
  }
}

function inOrder(amountMinor: bigint, owed: LoanOwed): LoanPaymentParts {
  const toFeesMinor = least(amountMinor, owed.feesMinor);
  const toInterestMinor = least(amountMinor - toFeesMinor, owed.interestMinor);
  const toPrincipalMinor = least(amountMinor - toFeesMinor - toInterestMinor, owed.principalMinor);
  return {
    toFeesMinor,
    toInterestMinor,
    toPrincipalMinor,
    toAmountDueMinor: least(amountMinor, owed.amountDueMinor),
  };
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
