import { asShown, type Category } from '../../accounts/index.ts';
import type { AuditTrail, CommandOrigin } from '../../events/index.ts';
import { formatMinor } from '../../ledger/index.ts';
import { type Page, type PageRequest, pageOf } from '../../shared/page.ts';
import { isPublicId } from '../../shared/public-id.ts';
import type { Database, InstitutionId } from '../../storage/index.ts';
import { selectLedgerAccount } from './account-queries.ts';
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

/** The entries of an account, the newest first. Undefined if no account has this id. The audit notes each page of a member's account. */
export async function listEntries(
  {
    database,
    auth: { audit },
  }: { readonly database: Database; readonly auth: { readonly audit: AuditTrail } },
  institutionId: InstitutionId,
  {
    accountId,
    page: { limit, after },
    origin,
  }: { readonly accountId: string; readonly page: PageRequest; readonly origin: CommandOrigin },
): Promise<Page<ShownLedgerEntry> | undefined> {
  if (!isPublicId(accountId)) return undefined;
  const found = await database.snapshot(institutionId, async (tx) => {
    const account = await selectLedgerAccount(tx, accountId);
    const place = { seq: after?.[0] ?? newest, limit: limit + 1 };
    return account && { account, rows: await selectEntriesBefore(tx, account.accountKey, place) };
  });
  if (found === undefined) return undefined;
  const read = {
    action: 'account.read',
    outcome: 'succeeded',
    reason: 'entries',
    subject: accountId,
  } as const;
  if (found.account.purpose === null) await audit.noteRead(institutionId, { ...read, origin });
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
