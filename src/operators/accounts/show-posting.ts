import { appendAudit, type CommandOrigin } from '../../events/index.ts';
import { formatMinor } from '../../ledger/index.ts';
import { isPublicId } from '../../shared/public-id.ts';
import type { Clock, Database, InstitutionId, Queryable } from '../../storage/index.ts';
import { readSums } from '../ledger/bounded-read.ts';
import { selectAccountRow } from './account-queries.ts';
import { type PostingRow, selectInternalKeys, selectPosting, selectPostingSides } from './posting-queries.ts';

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
 * The posting of an entry of a member's account, with its entry on the other side: the other account of the transfer, or the institution's own
 * account behind an act of the core. Undefined if there is no such account or entry. The audit records the read.
 */
export async function showPosting(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  institutionId: InstitutionId,
  {
    accountId,
    entry,
    origin,
  }: { readonly accountId: string; readonly entry: bigint; readonly origin: CommandOrigin },
): Promise<ShownPosting | undefined> {
  if (!isPublicId(accountId)) return undefined;
  // A first import opens all accounts at one moment, so the other side of an opening stands among many entries.
  const shown = await readSums(database, institutionId, {
    read: (db) => readPosting(db, accountId, entry),
    advice: 'Too many entries have the time of this one.',
  });
  if (shown === undefined) return undefined;
  const read = {
    action: 'account.read',
    outcome: 'succeeded',
    reason: 'entries',
    subject: accountId,
  } as const;
  await database.transaction(institutionId, (tx) => appendAudit(tx, { ...read, origin }, clock()));
  return shown;
}

async function readPosting(
  db: Queryable,
  accountId: string,
  entry: bigint,
): Promise<ShownPosting | undefined> {
  const account = await selectAccountRow(db, accountId);
  if (account === undefined) return undefined;
  const { accountKey, currency } = account;
  const posting = await selectPosting(db, accountKey, entry);
  if (posting === undefined) return undefined;
  const others = otherKeys(posting) ?? (await selectInternalKeys(db, currency));
  const accountKeys = [...new Set([accountKey, ...others])];
  const rows = await selectPostingSides(db, { ...posting, accountKeys });
  const text = (minor: bigint) => formatMinor(minor, currency);
  return {
    kind: posting.kind,
    at: posting.recordedAt,
    currency,
    transferId: posting.transferId,
    core: coreOf(posting),
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
}

/** Undefined for an act of the core that stores no other side of its own: it is one of the institution's accounts. */
function otherKeys({ fromKey, toKey, settlementKey }: PostingRow): bigint[] | undefined {
  if (fromKey !== null && toKey !== null) return [fromKey, toKey];
  return settlementKey === null ? undefined : [settlementKey];
}

function coreOf(row: PostingRow): ShownPosting['core'] {
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
