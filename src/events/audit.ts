import { isDeepStrictEqual } from 'node:util';
import type { Database, InstitutionId, Queryable, Write } from '../storage/index.ts';
import type { AuditEntry, AuditFilter, RecordedAuditEntry, TimedAuditEntry } from './audit-entry.ts';
import { deleteOldAudit, insertAudit, selectAudit } from './audit-queries.ts';

/** Appends one entry for a change, in the change's own transaction: the one does not stand without the other. */
export function appendAudit(tx: Queryable, entry: AuditEntry, at: Date): Promise<void> {
  return appendAuditEntries(tx, [{ ...entry, at, times: 1 }]);
}

/** In one statement, which fails when not each of them was written. */
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

/** What a change replaced and what it put there: the members in which the two differ. Undefined: there is none. */
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

/** What fits, oldest first, read a page at a time. */
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

/** Forgets what is older than `before`, some thousands at a time, but nothing of the last 90 days. Answers how many. */
export function expireAudit(db: Queryable, before: Date): Promise<number> {
  return deleteOldAudit(db, before, forgottenAtATime);
}
