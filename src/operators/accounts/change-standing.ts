import {
  type AccountStanding,
  type Restriction,
  selectStanding,
  updateClosed,
  updateRestriction,
} from '../../accounts/index.ts';
import { type AuditAction, appendAudit, type CommandOrigin } from '../../events/index.ts';
import { findInstitution } from '../../institutions/index.ts';
import { type AccountState, Book, closeBalance } from '../../ledger/index.ts';
import { isPublicId } from '../../shared/public-id.ts';
import type { Clock, Database, InstitutionId, Transaction } from '../../storage/index.ts';

interface Deps {
  readonly database: Database;
  readonly clock: Clock;
}

interface Act {
  readonly accountId: string;
  readonly statedReason: string;
  readonly origin: CommandOrigin;
}

type Standing =
  | { readonly kind: 'changed' | 'unchanged' }
  /** No member's account has this id. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'closed' };

/**
 * Restricts the transfers of an account; `EXCLUDE_ALL` freezes it, null ends the restriction. The core's restriction binds beside it, and
 * no import changes it. Orders decided before this commits stand. A pending transfer fails when it is about to post.
 */
export function restrictAccount(
  { database, clock }: Deps,
  institutionId: InstitutionId,
  { restriction, ...act }: Act & { readonly restriction: Restriction | null },
): Promise<Standing> {
  return database.transaction(institutionId, async (tx) => {
    const found = await lockAccount(tx, act.accountId);
    if (found === undefined) return { kind: 'unknown' };
    const { accountKey, closed, operatorRestriction } = found.standing;
    if (operatorRestriction === restriction) return { kind: 'unchanged' };
    if (closed && restriction !== null) return { kind: 'closed' };
    await updateRestriction(tx, accountKey, restriction);
    const action = restriction === null ? 'account.unrestricted' : 'account.restricted';
    const change = { before: { operatorRestriction }, after: { operatorRestriction: restriction } };
    await appendAct(tx, { action, ...act, ...change }, clock());
    return { kind: 'changed' };
  });
}

type Closing =
  | Standing
  /** In minor units of the currency, in the ledger's sign. */
  | {
      readonly kind: 'not_empty';
      readonly currency: string;
      readonly postedMinor: bigint;
      readonly heldMinor: bigint;
      readonly duesMinor: bigint;
    }
  | { readonly kind: 'kept_by_core' };

/**
 * Closes an account for good: nothing moves on it any more, and no import opens it again. Its balance is zero, nothing is held on it
 * and, for a loan, nothing is owed. Where the core keeps the books, the core closes accounts.
 */
export function closeAccount(
  { database, clock }: Deps,
  institutionId: InstitutionId,
  act: Act,
): Promise<Closing> {
  return database.transaction(institutionId, async (tx) => {
    const found = await lockAccount(tx, act.accountId);
    if (found === undefined) return { kind: 'unknown' };
    const { standing, balance } = found;
    const { accountKey, duesMinor } = standing;
    if (standing.closed) return { kind: 'unchanged' };
    if ((await findInstitution(tx, institutionId))?.record === 'core') return { kind: 'kept_by_core' };
    const { posted, debitsPending, creditsPending, currency } = balance;
    if (posted !== 0n || debitsPending !== 0n || creditsPending !== 0n || duesMinor !== 0n) {
      const heldMinor = debitsPending + creditsPending;
      return { kind: 'not_empty', currency, postedMinor: posted, heldMinor, duesMinor };
    }
    await closeBalance(tx, accountKey);
    await updateClosed(tx, accountKey);
    const change = { before: { closed: false }, after: { closed: true } };
    await appendAct(tx, { action: 'account.closed', ...act, ...change }, clock());
    return { kind: 'changed' };
  });
}

/** The desk decides orders behind the same lock, so each is decided before the change or after it. */
async function lockAccount(
  tx: Transaction,
  accountId: string,
): Promise<{ readonly standing: AccountStanding; readonly balance: AccountState } | undefined> {
  if (!isPublicId(accountId)) return undefined;
  const balance = (await Book.lock(tx, [accountId])).find(accountId);
  const standing = await selectStanding(tx, accountId);
  return standing && balance && { standing, balance };
}

async function appendAct(
  tx: Transaction,
  {
    accountId: subject,
    ...act
  }: Act & { readonly action: AuditAction; readonly before: object; readonly after: object },
  at: Date,
): Promise<void> {
  await appendAudit(tx, { outcome: 'succeeded', subject, ...act }, at);
}
