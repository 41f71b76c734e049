import { wordOf } from './format.ts';

/** A holder record with the state of its account. */
interface Held {
  readonly accountType: string;
  readonly role: string;
  readonly mayPay: boolean;
  readonly closed: boolean;
  readonly coreRestriction: string | null;
  readonly operatorRestriction: string | null;
}

/** The first reason why this person may not pay from the account; undefined if they may. */
export function whyNotPay(holding: Held): string | undefined {
  if (holding.closed) return 'The account is closed.';
  if (!holding.mayPay) return `The holder record (${wordOf(holding.role)}) does not allow it.`;
  if (['EXCLUDE_ALL', 'EXCLUDE_AS_FROM'].includes(holding.operatorRestriction ?? ''))
    return 'An operator restricted the account.';
  if (['EXCLUDE_ALL', 'EXCLUDE_AS_FROM'].includes(holding.coreRestriction ?? ''))
    return 'The core restricts the account.';
  if (!['SAVINGS', 'CHECKING', 'MONEY_MARKET'].includes(holding.accountType))
    return `${wordOf(holding.accountType)} pays nothing out.`;
  return undefined;
}
