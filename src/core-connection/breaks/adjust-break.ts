import { appendAudit, appendEvents, type CommandOrigin, nameOf } from '../../events/index.ts';
import type { BusinessTime } from '../../institutions/index.ts';
import { Book, takePostingKeys } from '../../ledger/index.ts';
import type { Clock, Database, InstitutionId, Transaction } from '../../storage/index.ts';
import { consentOfTwo } from '../../transfers/index.ts';
import { openSettlementAccounts, settlementAccountId } from '../intake/settlement-accounts.ts';
import { signedMinor } from '../intake/transaction-line.ts';
import type { LockedBreak } from './break.ts';
import { closeAdjusted, insertNote, lockBreak } from './break-queries.ts';
import { moneyOf } from './decide-breaks.ts';
import { breakClosed } from './write-breaks.ts';

export type Adjustment =
  | { readonly kind: 'unknown' | 'closed' }
  /** The break is not a lasting difference of an account that is here. */
  | { readonly kind: 'not_of_an_account' }
  /** Postings of the core have arrived since the comparison. */
  | { readonly kind: 'outdated' }
  /** The difference is not the one that the operator saw. */
  | { readonly kind: 'changed'; readonly difference: string }
  /** Nothing has changed yet: a second person must give the same command. */
  | { readonly kind: 'proposed'; readonly proposedBy: string; readonly expiresAt: Date }
  | { readonly kind: 'adjusted'; readonly adjusted: LockedBreak };

export interface AdjustmentOrder {
  readonly breakKey: bigint;
  /** The difference that the operator saw, as decimal text: another one is not posted. */
  readonly difference: string;
  readonly reason: string;
  readonly origin: CommandOrigin;
}

/**
 * Posts the difference of an account's break against the settlement account of adjustments, and closes the break. It is a fact and has
 * no bounds: the core's balance counts. A comparison may change the difference of an open break, so the operator names it. Under dual
 * control two persons give the same command, and name the same difference.
 */
export function adjustBreak(
  deps: { readonly database: Database; readonly clock: Clock; readonly businessTime: BusinessTime },
  institutionId: InstitutionId,
  { breakKey, difference, reason, origin }: AdjustmentOrder,
): Promise<Adjustment> {
  return deps.database.transaction(institutionId, async (tx) => {
    const found = await lockBreak(tx, breakKey);
    if (found === undefined) return { kind: 'unknown' };
    if (found.closedAt !== null) return { kind: 'closed' };
    const { accountKey, accountId, coreId, transferId, currency, differenceMinor } = found;
    const isOfPosting = coreId !== null || transferId !== null;
    // The core has postings of a later day, which are here too.
    const isMatterOfTime = found.class === 'TIMING';
    if (accountKey === null || isOfPosting || isMatterOfTime || differenceMinor === 0n) {
      return { kind: 'not_of_an_account' };
    }
    if (!found.isCurrent) return { kind: 'outdated' };
    if (signedMinor(difference, currency) !== differenceMinor) {
      return { kind: 'changed', difference: moneyOf(differenceMinor, currency) };
    }
    const money = { accountId, currency, amountMinor: differenceMinor };
    const about = { kind: 'ADJUSTMENT', subject: String(breakKey), money } as const;
    const consent = await consentOfTwo(tx, about, { origin, at: deps.clock() });
    if (consent.kind === 'proposed') return consent;
    const at = deps.businessTime(institutionId, deps.clock());
    await post(tx, { found, accountKey, at, note: { author: nameOf(origin.operator), reason } });
    const entry = {
      action: 'core.break_adjusted',
      outcome: 'succeeded',
      origin,
      subject: String(breakKey),
      statedReason: reason,
      after: { accountId, currency, differenceMinor: String(differenceMinor) },
    } as const;
    await appendAudit(tx, entry, deps.clock());
    return { kind: 'adjusted', adjusted: found };
  });
}

async function post(
  tx: Transaction,
  {
    found,
    accountKey,
    at,
    note,
  }: {
    readonly found: LockedBreak;
    readonly accountKey: bigint;
    readonly at: Date;
    readonly note: { readonly author: string; readonly reason: string };
  },
): Promise<void> {
  const { breakKey, accountId, currency, differenceMinor } = found;
  const other = settlementAccountId('ADJUSTMENT', currency);
  await openSettlementAccounts(tx, [{ accountId, kind: 'ADJUSTMENT', currencyCode: currency }], at);
  const book = await Book.lock(tx, [accountId, other]);
  const [postingKey] = await takePostingKeys(tx, 1);
  const isCredit = differenceMinor > 0n;
  book.record({
    kind: 'ADJUSTMENT',
    postingKey: postingKey as bigint,
    debitAccountId: isCredit ? other : accountId,
    creditAccountId: isCredit ? accountId : other,
    amountMinor: isCredit ? differenceMinor : -differenceMinor,
  });
  const { seq } = book.require(accountId);
  const when = await book.write(at);
  await closeAdjusted(tx, breakKey, { at, seq });
  await insertNote(tx, breakKey, { at, author: note.author, note: `Adjusted: ${note.reason}` });
  const moved = { subjectKey: accountKey, toKey: accountKey, toSeq: seq };
  await appendEvents(tx, [{ kind: 'account.balance_adjusted', ...moved }, breakClosed(found)], when);
}
