import { isDeepStrictEqual } from 'node:util';
import type { Database, InstitutionId, Queryable, Write } from '../../storage/index.ts';
import type { AuditEntry, AuditFilter, RecordedAuditEntry, TimedAuditEntry } from './audit-entry.ts';
import { clearPersonalFields, insertAudit, selectAudit, selectAuditPlace } from './audit-queries.ts';

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

/**
 * The matching entries, oldest first, read page by page. `afterKey` continues behind an entry; one that was pruned
 * meanwhile has no place, and nothing is returned.
 */
export async function* readAudit(
  database: Database,
  institutionId: InstitutionId,
  filter: AuditFilter,
  afterKey?: bigint,
): AsyncGenerator<RecordedAuditEntry> {
  let after: Pick<RecordedAuditEntry, 'at' | 'auditKey'> | undefined;
  if (afterKey !== undefined) {
    after = await database.read(institutionId, (db) => selectAuditPlace(db, afterKey));
    if (after === undefined) return;
  }
  for (;;) {
    const page = await database.read(institutionId, (db) => selectAudit(db, filter, after, pageLength));
    yield* page;
    after = page.at(-1);
    if (page.length < pageLength) return;
  }
}

/**
 * Erases the personal fields of the entries about these users and subjects, and returns their number. The hash of the fields
 * stays, so the chain still verifies.
 */
export function eraseAuditPersonal(
  tx: Queryable,
  of: { readonly userIds: readonly string[]; readonly subjects: readonly string[] },
  at: Date,
): Promise<number> {
  return clearPersonalFields(tx, of.userIds, of.subjects, at);
}
