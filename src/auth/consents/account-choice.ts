import type { Scope } from '../tokens/scopes.ts';
import type { ConsentableAccount } from './consent-account-queries.ts';

/** The scopes that show or move something of an account. */
const accountScopes: readonly string[] = [
  'account:read',
  'transfer:read',
  'transfer:write',
  'alertHist:read',
  'alertPref:read',
  'alertPref:write',
] satisfies Scope[];

export function asksForAccounts(scopes: readonly string[]): boolean {
  return scopes.some((scope) => accountScopes.includes(scope));
}

export function asksToPay(scopes: readonly string[]): boolean {
  return scopes.includes('transfer:write');
}

/** The accounts that a member ticked on the page, by id. `all`: every account, also those of later. */
export interface SentChoice {
  readonly all: boolean;
  readonly see: readonly string[];
  readonly pay: readonly string[];
}

/** The accounts of a new consent. */
export interface ChosenAccounts {
  readonly allAccounts: boolean;
  readonly named: readonly Pick<ConsentableAccount, 'accountKey' | 'accountId' | 'mayPay'>[];
}

/**
 * The accounts of a consent by the member's choice; undefined if the choice has none, or one that is not the member's. An app that may
 * pay from an account sees it.
 */
export function readChoice(
  scopes: readonly string[],
  { all, see, pay }: SentChoice,
  held: readonly ConsentableAccount[],
): ChosenAccounts | undefined {
  if (!asksForAccounts(scopes)) return { allAccounts: false, named: [] };
  if (all) return { allAccounts: true, named: [] };
  const ids = new Set([...see, ...pay]);
  const chosen = held.filter(({ accountId }) => ids.has(accountId));
  if (chosen.length === 0 || chosen.length < ids.size) return undefined;
  const mayPay = ({ accountId, mayPay: holderMay }: ConsentableAccount) =>
    asksToPay(scopes) && holderMay && pay.includes(accountId);
  const named = chosen.map((one) => ({
    accountKey: one.accountKey,
    accountId: one.accountId,
    mayPay: mayPay(one),
  }));
  return { allAccounts: false, named };
}

/** For the audit. */
export function accountText({
  accountId,
  mayPay,
}: {
  readonly accountId: string;
  readonly mayPay: boolean;
}): string {
  return mayPay ? `${accountId} (pays)` : accountId;
}
