import type { CommandOrigin } from '../../events/index.ts';
import { formatMinor } from '../../ledger/index.ts';
import { isPublicId } from '../../shared/public-id.ts';
import type { Clock, Database, InstitutionId, Queryable } from '../../storage/index.ts';
import { readSums } from '../ledger/bounded-read.ts';
import { type LedgerAccountRow, selectLedgerAccount } from './account-queries.ts';
import {
  type PostingRow,
  type SettledRow,
  selectInternalKeys,
  selectOtherSide,
  selectPosting,
  selectPostingSides,
  selectSettled,
} from './posting-queries.ts';
import { recordRead } from './record-read.ts';

/** A posting with the entries on both sides. Amounts are decimal text, as the ledger has them: credit is positive, and the sides sum to zero. */
interface ShownPosting {
  readonly kind: string;
  readonly at: Date;
  readonly currency: string;
  /** The order that made it; null if none did. */
  readonly transferId: string | null;
  readonly core: {
    readonly transactionId: string;
    readonly kind: string;
    readonly postedAt: Date;
    /** YYYY-MM-DD. */
    readonly effectiveDate: string;
    readonly description: string;
    readonly merchant: string | null;
    readonly checkNumber: string | null;
    readonly authorizationId: string | null;
  } | null;
  readonly sides: readonly {
    readonly accountId: string;
    readonly accountType: string;
    readonly description: string;
    readonly isInternal: boolean;
    readonly entry: bigint;
    readonly kind: string;
    readonly amount: string;
    readonly balanceAfter: string;
    readonly holdsOutAfter: string;
    readonly holdsInAfter: string;
  }[];
}

/**
 * The posting of an entry, with its entry on the other side: the other account of the transfer, the institution's own account behind an act of
 * the core, or the member's account behind an entry of the institution's own. Undefined if there is no such account or entry. The audit records the
 * read of the account, or of the member's account behind the institution's own. Problem `act_refused`.
 */
export async function showPosting(
  deps: { readonly database: Database; readonly clock: Clock },
  institutionId: InstitutionId,
  {
    accountId,
    entry,
    origin,
  }: { readonly accountId: string; readonly entry: bigint; readonly origin: CommandOrigin },
): Promise<ShownPosting | undefined> {
  if (!isPublicId(accountId)) return undefined;
  // A first import opens all accounts at one moment, so the other side of an opening stands among many entries.
  const found = await readSums(deps.database, institutionId, {
    read: (db) => readPosting(db, accountId, entry),
    advice: 'Too many accounts have moved since. Open the posting from the account of the member.',
  });
  if (found === undefined) return undefined;
  const { account, shown } = found;
  const members = shown.sides.filter(({ isInternal }) => !isInternal).map((side) => side.accountId);
  const read = account.purpose === null ? [accountId] : new Set(members);
  for (const id of read)
    await recordRead(deps, institutionId, {
      account: { accountId: id, purpose: null },
      reason: 'entries',
      origin,
    });
  return shown;
}

async function readPosting(
  db: Queryable,
  accountId: string,
  entry: bigint,
): Promise<{ readonly account: LedgerAccountRow; readonly shown: ShownPosting } | undefined> {
  const account = await selectLedgerAccount(db, accountId);
  if (account === undefined) return undefined;
  const { accountKey, currency } = account;
  const posting = await selectPosting(db, accountKey, entry);
  if (posting === undefined) return undefined;
  const settled = account.purpose === null ? undefined : await selectSettled(db, accountKey, posting);
  const others = settled ? [settled.accountKey] : await otherKeys(db, account, posting);
  const accountKeys = [...new Set([accountKey, ...others])];
  const rows = await selectPostingSides(db, { ...posting, accountKeys });
  const text = (minor: bigint) => formatMinor(minor, currency);
  const shown = {
    kind: posting.kind,
    at: posting.recordedAt,
    currency,
    transferId: posting.transferId,
    core: coreOf(settled ?? posting),
    sides: rows.map((row) => ({
      accountId: row.accountId,
      accountType: row.diAccountType,
      description: row.description,
      isInternal: row.isInternal,
      entry: row.seq,
      kind: row.kind,
      amount: text(row.amount),
      balanceAfter: text(row.postedAfter),
      holdsOutAfter: text(row.debitsPendingAfter),
      holdsInAfter: text(row.creditsPendingAfter),
    })),
  };
  return { account, shown };
}

/** An act of the core that stores no other side of its own has one of the institution's accounts and one of a member. */
async function otherKeys(
  db: Queryable,
  { purpose, currency }: LedgerAccountRow,
  posting: PostingRow,
): Promise<bigint[]> {
  const { fromKey, toKey, settlementKey } = posting;
  if (fromKey !== null && toKey !== null) return [fromKey, toKey];
  if (settlementKey !== null) return [settlementKey];
  if (purpose === null) return selectInternalKeys(db, currency);
  const other = await selectOtherSide(db, currency, posting);
  return other === undefined ? [] : [other];
}

function coreOf(row: PostingRow | SettledRow): ShownPosting['core'] {
  const { coreId, coreKind, postedAt, effectiveDate, description } = row;
  if (
    coreId === null ||
    coreKind === null ||
    postedAt === null ||
    effectiveDate === null ||
    description === null
  )
    return null;
  const { merchant, checkNumber, authorizationId } = row;
  return {
    transactionId: coreId,
    kind: coreKind,
    postedAt,
    effectiveDate,
    description,
    merchant,
    checkNumber,
    authorizationId,
  };
}
