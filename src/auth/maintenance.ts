import type { InstitutionId } from '../storage/index.ts';
import { deleteExpiredClientAssertions } from './clients/replay-cache.ts';
import type { AuthDeps } from './deps.ts';
import { deleteExpiredAssertions } from './providers/queries.ts';
import { deleteEndedTokens } from './refresh/refresh-queries.ts';

/** Now and then: forgets what has run out at an institution. Signing keys are rotated apart, by `SigningKeys.keep`. */
export async function runAuthMaintenance(
  { database, clock }: Pick<AuthDeps, 'database' | 'clock'>,
  institutionId: InstitutionId,
): Promise<void> {
  const now = clock();
  await database.write(institutionId, async (db) => {
    await deleteExpiredClientAssertions(db, institutionId, now);
    await deleteExpiredAssertions(db, institutionId, now);
    await deleteEndedTokens(db, institutionId, now);
  });
}
