import { findInstitution, type Institution } from '../../institutions/index.ts';
import type { Database, InstitutionId } from '../../storage/index.ts';

/** The institution of a signed-in operator. */
export async function institutionOf(
  { database }: { readonly database: Database },
  institutionId: InstitutionId,
): Promise<Institution> {
  const institution = await database.directory((db) => findInstitution(db, institutionId));
  if (institution === undefined) throw new Error('an operator of an institution that does not exist');
  return institution;
}
