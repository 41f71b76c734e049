/**
 * Why a transfer fails: each code with the title of its problem. An order is declined for the first that applies, in this
 * order. A new code needs a line here, its rule in transfers/rules, and its page in docs/problems.
 */
const failureTitles = {
  account_not_found: 'Account not found',
  same_account: 'Same account',
  account_closed: 'Account closed',
  account_restricted: 'Account restricted',
  currency_mismatch: 'Currency mismatch',
  transfer_type_mismatch: 'Transfer type mismatch',
  limit_exceeded: 'Limit exceeded',
  exceeds_payoff: 'Payment exceeds payoff',
  exceeds_contribution_limit: 'Contribution exceeds limit',
  insufficient_funds: 'Insufficient funds',
  core_unavailable: 'Core unavailable',
  // Declines an order by screening, or ends a pending transfer.
  transfer_declined: 'Transfer declined',
  // These end a pending transfer, and never decline an order.
  transfer_cancelled: 'Transfer cancelled',
  transfer_expired: 'Transfer expired',
  core_rejected: 'Core rejected',
} as const;

export type FailureCode = keyof typeof failureTitles;

export const failureCodes = Object.keys(failureTitles) as FailureCode[];

/** Each code with a value made from its title. */
export function forEachFailure<T>(make: (title: string) => T): Record<FailureCode, T> {
  const entries = Object.entries(failureTitles).map(([code, title]) => [code, make(title)]);
  return Object.fromEntries(entries) as Record<FailureCode, T>;
}
