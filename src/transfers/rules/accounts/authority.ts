import type { Actor } from '../../../institutions/index.ts';
import type { Facts, IdPrefix } from '../facts.ts';
import type { SubmittedOrder } from '../transfer.ts';
import type { AccountFacts } from './account.ts';

/**
 * A client token may order on any account of its institution. A member's token sees an account only by a holder record, and
 * pays from it only if the record allows it. Holder records are read after the locks.
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
 * A member may also name any other open deposit account of the institution as destination, except retirement accounts. Only
 * holders pay into loans and retirement accounts; for other members these do not exist.
 */
export function visibleDestination(actor: Actor, accountId: string, facts: Facts): AccountFacts | undefined {
  const account = visibleSource(actor, accountId, facts);
  if (account !== undefined) return account;
  const other = facts.account(accountId);
  const payable = other?.category === 'DEPOSIT' && other.diAccountType !== 'RETIREMENT_IRA' && !other.closed;
  return payable ? other : undefined;
}

/** Prefix of ids that were derived from an `Idempotency-Key`. Others can compute such an id, but may not use it. */
export const derivedIdPrefix = 'key:';

/** Whether the order may use its id. A prefix of one client is refused to other clients and their members. */
export function mayUseId(
  { transferId, isIdDerived, actor }: SubmittedOrder,
  prefixes: readonly IdPrefix[],
): boolean {
  if (transferId.startsWith(derivedIdPrefix)) return isIdDerived === true;
  return prefixes.every(
    ({ prefix, clientId }) => clientId === actor.clientId || !transferId.startsWith(prefix),
  );
}

/**
 * A client sees every transfer of its institution. A member sees their own orders and, unless they failed, transfers from
 * accounts that they hold.
 */
export function maySee(
  actor: Actor,
  transfer: { readonly userKey: bigint | null; readonly status: string; readonly sourceHeld: boolean },
): boolean {
  if (actor.kind === 'client') return true;
  return transfer.userKey === actor.userKey || (transfer.status !== 'FAILED' && transfer.sourceHeld);
}
