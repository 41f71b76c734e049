import { isDeepStrictEqual } from 'node:util';
import type { Database, InstitutionId, Queryable, Write } from '../../storage/index.ts';
import type { AuditEntry, AuditFilter, RecordedAuditEntry, TimedAuditEntry } from './audit-entry.ts';
import {
  type AuditPlace,
  clearPersonalFields,
  insertAudit,
  selectAudit,
  selectAuditPlace,
} from './audit-queries.ts';

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

/** A window without a match is followed by a wider one, so that a rare filter takes few statements, each of them short. */
const [narrowest, widest] = [1_000, 8_000];

export interface AuditReading {
  readonly afterKey?: bigint | undefined;
  readonly newestFirst?: boolean | undefined;
}

/**
 * The matching entries, oldest first unless `newestFirst`, read page by page. `afterKey` continues behind an entry; one that was
 * pruned meanwhile has no place, and nothing is returned.
 */
export async function* readAudit(
  database: Database,
  institutionId: InstitutionId,
  filter: AuditFilter,
  { afterKey, newestFirst = false }: AuditReading = {},
): AsyncGenerator<RecordedAuditEntry> {
  let after: AuditPlace | undefined;
  if (afterKey !== undefined) {
    after = await database.read(institutionId, (db) => selectAuditPlace(db, afterKey));
    if (after === undefined) return;
  }
  let window = narrowest;
  for (;;) {
    const { entries, last } = await database.read(institutionId, (db) =>
      selectAudit(db, filter, { after, newestFirst, window }),
    );
    yield* entries;
    if (last === undefined) return;
    after = last;
    window = entries.length === 0 ? Math.min(window * 2, widest) : narrowest;
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
