/** The facts about an account that decide a transfer. The institution's own accounts are not among them. */
export interface AccountFacts {
  readonly accountKey: bigint;
  readonly accountId: string;
  readonly customerKey: bigint;
  readonly diAccountType: string;
  readonly category: string;
  readonly currency: string;
  readonly closed: boolean;
  readonly overdraftLimit: bigint;
  /** The restrictions of the core and of an operator together. */
  readonly transferRestriction: 'EXCLUDE_ALL' | 'EXCLUDE_AS_FROM' | 'EXCLUDE_AS_TO' | null;
  readonly loan: LoanDues | null;
  /** An IRA's holder of record, whom the yearly limit on contributions binds. */
  readonly owner: { readonly personKey: bigint; readonly birthDate: string | null } | null;
}

/** The parts of a loan's debt that are not principal, and the amount due now. A batch subtracts its payments. */
export interface LoanDues {
  fees: bigint;
  interest: bigint;
  amountDue: bigint;
}
