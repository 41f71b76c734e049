import { openInternalAccounts } from '../../core-system/index.ts';
import { appendAudit, type CommandOrigin } from '../../events/index.ts';
import {
  findInstitutionByCode,
  type Institution,
  type InstitutionSettings,
  insertInstitution,
  type NameClaims,
  reserveInstitutionId,
} from '../../institutions/index.ts';
import { type Clock, type Database, isUniqueViolation } from '../../storage/index.ts';

interface Created {
  readonly kind: 'created' | 'exists';
  readonly institution: Institution;
}

interface Deps {
  readonly database: Database;
  readonly clock: Clock;
  /** For a cell with a directory. */
  readonly claims?: NameClaims | undefined;
}

/**
 * Creates an institution with its settings and its internal accounts. Members of an institution with open enrollment can register at
 * once; the others come with an import. `exists`: there is one with this code, and nothing was changed. Problem `invalid_request` for a code
 * that another cell has.
 */
export async function createInstitution(
  { database, clock, claims }: Deps,
  { settings, origin }: { readonly settings: InstitutionSettings; readonly origin: CommandOrigin },
): Promise<Created> {
  const { code, currency } = settings;
  const find = () => database.directory((db) => findInstitutionByCode(db, code));
  const known = await find();
  if (known !== undefined) return { kind: 'exists', institution: known };
  const institutionId = claims
    ? await claims.institution(code)
    : await database.directory(reserveInstitutionId);
  const at = clock();
  try {
    const institution = await database.transaction(institutionId, async (tx) => {
      const inserted = await insertInstitution(tx, settings, at, institutionId);
      await openInternalAccounts(tx, [currency], at);
      const { policies, ...identity } = settings;
      const after = { ...identity, ...policies };
      await appendAudit(tx, { action: 'institution.created', outcome: 'succeeded', origin, after }, at);
      return inserted;
    });
    return { kind: 'created', institution };
  } catch (error) {
    const other = isUniqueViolation(error) ? await find() : undefined;
    if (other === undefined) throw error;
    return { kind: 'exists', institution: other };
  }
}
