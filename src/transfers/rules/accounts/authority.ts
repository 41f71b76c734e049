import { type Actor, coveredKeys } from '../../../institutions/index.ts';
import type { Facts, IdPrefix } from '../facts.ts';
import type { SubmittedOrder } from '../transfer.ts';
import type { AccountFacts } from './account.ts';

/**
 * A client token may order on any account of its institution. A member's token sees an account only by a holder record, and
 * pays from it only if the record allows it. The token of an app needs its consent for both. Holder records and consents are read after
 * the locks.
 */
export function visibleSource(actor: Actor, accountId: string, facts: Facts): AccountFacts | undefined {
  const account = facts.account(accountId);
  if (account === undefined || actor.kind === 'client') return account;
  if (coveredKeys(actor)?.includes(account.accountKey) === false) return undefined;
  return facts.holding(account.accountKey, actor.personKey) ? account : undefined;
}

export function mayPayFrom(actor: Actor, account: AccountFacts, facts: Facts): boolean {
  if (actor.kind === 'client') return true;
  if (actor.consent?.payingKeys?.includes(account.accountKey) === false) return false;
  return facts.holding(account.accountKey, actor.personKey)?.mayPay === true;
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

/** The accounts by which a transfer is seen: its source and, for a reversal, the source of its original. */
export interface TransferEnds {
  readonly fromKey: bigint | null;
  readonly toKey: bigint | null;
  readonly reversesKey: bigint | null;
}

/**
 * A client sees every transfer of its institution. A member sees their own orders and, unless they failed, transfers from
 * accounts that they hold. The app of a member sees those among them whose source its consent covers.
 */
export function maySee(
  actor: Actor,
  transfer: TransferEnds & {
    readonly userKey: bigint | null;
    readonly status: string;
    readonly sourceHeld: boolean;
  },
): boolean {
  if (actor.kind === 'client') return true;
  if (!isCovered(actor, transfer)) return false;
  return transfer.userKey === actor.userKey || (transfer.status !== 'FAILED' && transfer.sourceHeld);
}

function isCovered(actor: Actor, { fromKey, toKey, reversesKey }: TransferEnds): boolean {
  const covered = coveredKeys(actor);
  if (covered === null) return true;
  const covers = (key: bigint | null) => key !== null && covered.includes(key);
  return covers(fromKey) || (reversesKey !== null && covers(toKey));
}

/** The transfer as the caller may see it: an app does not learn of an original that left an account outside its consent. */
export function asSeen<
  Row extends Pick<TransferEnds, 'toKey'> & { readonly reverses?: string | null | undefined },
>(actor: Actor, row: Row): Row {
  const covered = coveredKeys(actor);
  const hides =
    covered !== null && row.reverses != null && (row.toKey === null || !covered.includes(row.toKey));
  return hides ? { ...row, reverses: null } : row;
}
