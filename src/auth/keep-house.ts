import type { InstitutionId } from '../storage/index.ts';
import { forgetClientAssertions } from './clients/spent-client-assertions.ts';
import type { AuthDeps } from './deps.ts';
import { sweepSpentAssertions } from './providers/queries.ts';
import { forgetEnded } from './refresh/refresh-queries.ts';

/** Now and then: forgets what has run out at an institution. Signing keys are rotated apart, by `SigningKeys.keep`. */
export async function keepAuthHouse(
  { database, clock }: Pick<AuthDeps, 'database' | 'clock'>,
  institutionId: InstitutionId,
): Promise<void> {
  const now = clock();
  await database.write(institutionId, async (db) => {
    await forgetClientAssertions(db, institutionId, now);
    await sweepSpentAssertions(db, institutionId, now);
    await forgetEnded(db, institutionId, now);
  });
}
