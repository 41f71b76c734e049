import { asShown, type Category } from '../../accounts/index.ts';
import { appendAudit, type CommandOrigin } from '../../events/index.ts';
import { formatMinor } from '../../ledger/index.ts';
import { type Page, type PageRequest, pageOf } from '../../shared/page.ts';
import { isPublicId } from '../../shared/public-id.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import { selectAccountRow } from './account-queries.ts';
import { selectEntriesBefore } from './entry-queries.ts';

/** An entry with the balance after it. Amounts are decimal text, from the holder's side: a debt is positive. */
export interface ShownLedgerEntry {
  readonly entry: bigint;
  readonly at: Date;
  readonly kind: string;
  readonly amount: string;
  readonly balanceAfter: string;
  readonly holdsOutAfter: string;
  readonly holdsInAfter: string;
  readonly transferId: string | null;
}

const newest = 9_223_372_036_854_775_807n;

/** The entries of an account, the newest first. Undefined if no member's account has this id. The audit records the first page. */
export async function listEntries(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  institutionId: InstitutionId,
  {
    accountId,
    page: { limit, after },
    origin,
  }: { readonly accountId: string; readonly page: PageRequest; readonly origin: CommandOrigin },
): Promise<Page<ShownLedgerEntry> | undefined> {
  if (!isPublicId(accountId)) return undefined;
  const found = await database.snapshot(institutionId, async (tx) => {
    const account = await selectAccountRow(tx, accountId);
    const place = { seq: after?.[0] ?? newest, limit: limit + 1 };
    return account && { account, rows: await selectEntriesBefore(tx, account.accountKey, place) };
  });
  if (found === undefined) return undefined;
  if (after === null) {
    const entry = {
      action: 'account.read',
      outcome: 'succeeded',
      reason: 'entries',
      subject: accountId,
    } as const;
    await database.transaction(institutionId, (tx) => appendAudit(tx, { ...entry, origin }, clock()));
  }
  const { category, currency } = found.account;
  const text = (minor: bigint) => formatMinor(minor, currency);
  const own = (minor: bigint) => text(asShown(category as Category, minor));
  return pageOf(
    found.rows,
    limit,
    (row) => ({
      entry: row.seq,
      at: row.recordedAt,
      kind: row.kind,
      amount: own(row.amount),
      balanceAfter: own(row.postedAfter),
      holdsOutAfter: text(row.debitsPendingAfter),
      holdsInAfter: text(row.creditsPendingAfter),
      transferId: row.transferId,
    }),
    ({ seq }) => [seq],
  );
}
