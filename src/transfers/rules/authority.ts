import type { Actor } from '../../institutions/index.ts';
import type { AccountFacts } from './account.ts';
import type { Facts, IdPrefix } from './facts.ts';
import type { SubmittedOrder } from './transfer.ts';

/**
 * Who may order what, read from holder records after the locks. A client token may order on any account of its
 * institution; a member's sees an account only by a holder record, and pays from it only when the record says so.
 */
export function visibleSource(actor: Actor, accountId: string, facts: Facts): AccountFacts | undefined {
  const account = facts.account(accountId);
  if (account === undefined || actor.kind === 'client') return account;
  return facts.holding(account.accountKey, actor.personKey) ? account : undefined;
}

export function mayPayFrom(actor: Actor, account: AccountFacts, facts: Facts): boolean {
  return actor.kind === 'client' || facts.holding(account.accountKey, actor.personKey)?.mayPay === true;
}

/**
 * Beyond their own accounts members may name any open deposit account of the institution, but not loans and
 * retirement accounts: only their holders pay into those, and to others they do not exist.
 */
export function visibleDestination(actor: Actor, accountId: string, facts: Facts): AccountFacts | undefined {
  const account = visibleSource(actor, accountId, facts);
  if (account !== undefined) return account;
  const other = facts.account(accountId);
  const payable = other?.category === 'DEPOSIT' && other.diAccountType !== 'RETIREMENT_IRA' && !other.closed;
  return payable ? other : undefined;
}

const payingTypes: ReadonlySet<string> = new Set(['SAVINGS', 'CHECKING', 'MONEY_MARKET']);

/** Only these pay out at all, whoever orders it, and only where the core has not restricted them. */
export function paysOut({ diAccountType, transferRestriction }: AccountFacts): boolean {
  const excluded = transferRestriction === 'EXCLUDE_ALL' || transferRestriction === 'EXCLUDE_AS_FROM';
  return payingTypes.has(diAccountType) && !excluded;
}

export function mayReceive({ transferRestriction }: AccountFacts): boolean {
  return transferRestriction !== 'EXCLUDE_ALL' && transferRestriction !== 'EXCLUDE_AS_TO';
}

/** How an id begins that was derived from an `Idempotency-Key`. Such an id can be computed by others, who may not take it. */
export const derivedIdPrefix = 'key:';

/** Whether the order may use its id up: prefixes of one client are refused to all others and their members. */
export function mayUseId(
  { transferId, isIdDerived, actor }: SubmittedOrder,
  prefixes: readonly IdPrefix[],
): boolean {
  if (transferId.startsWith(derivedIdPrefix)) return isIdDerived === true;
  return prefixes.every(
    ({ prefix, clientId }) => clientId === actor.clientId || !transferId.startsWith(prefix),
  );
}

/** A client sees every transfer of its institution; a member sees its own orders and, unless they failed, transfers from accounts that it holds. */
export function maySee(
  actor: Actor,
  transfer: { readonly userKey: bigint | null; readonly status: string; readonly sourceHeld: boolean },
): boolean {
  if (actor.kind === 'client') return true;
  return transfer.userKey === actor.userKey || (transfer.status !== 'FAILED' && transfer.sourceHeld);
}
