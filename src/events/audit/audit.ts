import { isDeepStrictEqual } from 'node:util';
import type { Database, InstitutionId, Queryable, Write } from '../../storage/index.ts';
import type { AuditEntry, AuditFilter, RecordedAuditEntry, TimedAuditEntry } from './audit-entry.ts';
import { deleteOldAudit, insertAudit, selectAudit } from './audit-queries.ts';

/** Appends one entry in the transaction of the change, so that both commit or neither does. */
export function appendAudit(tx: Queryable, entry: AuditEntry, at: Date): Promise<void> {
  return appendAuditEntries(tx, [{ ...entry, at, times: 1 }]);
}

/** Appends entries in one statement, which fails unless each was written. */
export async function appendAuditEntries(db: Queryable, entries: readonly TimedAuditEntry[]): Promise<void> {
  for (const { statement, values } of auditToAppend(db.institutionId, entries)) {
    await db.query(statement, values);
  }
}

/** The same as a write, for a transaction that sends its writes with COMMIT; none without entries. */
export function auditToAppend(
  institutionId: InstitutionId,
  entries: readonly TimedAuditEntry[],
): readonly Write[] {
  return entries.length > 0 ? [insertAudit(institutionId, entries)] : [];
}

/** The members in which two values differ, before and after; undefined if none does. */
export function whatChanged<Kept extends object>(
  before: Kept | undefined,
  after: Kept | undefined,
): Pick<AuditEntry, 'before' | 'after'> {
  const names = Object.keys({ ...before, ...after }) as (keyof Kept)[];
  const differing = names.filter((name) => !isDeepStrictEqual(before?.[name], after?.[name]));
  const only = (kept: Kept | undefined) =>
    kept && Object.fromEntries(differing.map((name) => [name, kept[name]]));
  return { before: only(before), after: only(after) };
}

const pageLength = 1_000;

/** The matching entries, oldest first, read page by page. */
export async function* readAudit(
  database: Database,
  institutionId: InstitutionId,
  filter: AuditFilter,
): AsyncGenerator<RecordedAuditEntry> {
  let after: RecordedAuditEntry | undefined;
  for (;;) {
    const page = await database.read(institutionId, (db) => selectAudit(db, filter, after, pageLength));
    yield* page;
    after = page.at(-1);
    if (page.length < pageLength) return;
  }
}

const forgottenAtATime = 5_000;

/** Deletes entries older than `before`, some thousands at a time, and none of the last 90 days. Returns their number. */
export function expireAudit(db: Queryable, before: Date): Promise<number> {
  return deleteOldAudit(db, before, forgottenAtATime);
}
