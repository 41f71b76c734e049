import { auditedNameHash, type Vault } from '../../auth/index.ts';
import { appendAudit, type CommandOrigin } from '../../events/index.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import { type FoundPerson, type SearchWay, searchWays, selectPersons } from './find-queries.ts';

export type { FoundPerson, SearchWay };
export { searchWays };

export interface MemberSearch {
  readonly text: string;
  /** Undefined: in every way. */
  readonly by?: SearchWay | undefined;
  readonly limit: number;
  /** The person id of the last row of the page before. */
  readonly after?: string | undefined;
  readonly origin: CommandOrigin;
}

interface Deps {
  readonly database: Database;
  readonly clock: Clock;
  readonly auth: { readonly vault: Vault };
}

/**
 * Finds persons by member number, e-mail address, username, id or the beginning of a last or first name. Those that the text identifies come
 * first, then last names, then first names, each by last name, first name and key. The audit records the search with a keyed hash of its text, and the number of persons found.
 */
export async function findMembers(
  { database, clock, auth }: Deps,
  institutionId: InstitutionId,
  { text, by, limit, after, origin }: MemberSearch,
): Promise<FoundPerson[]> {
  // PostgreSQL's text cannot contain NUL, so nothing is called so.
  const found = text.includes('\0')
    ? []
    : await database.read(institutionId, (db) => selectPersons(db, by ?? 'any', { text, limit, after }));
  const nameHash = auditedNameHash(auth.vault, text);
  const entry = { action: 'person.searched', outcome: 'succeeded', reason: by ?? 'any', nameHash } as const;
  await database.transaction(institutionId, (tx) =>
    appendAudit(tx, { ...entry, after: { found: found.length }, origin }, clock()),
  );
  return found;
}
