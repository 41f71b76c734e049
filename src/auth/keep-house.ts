import type { InstitutionId } from '../storage/index.ts';
import type { AuthDeps } from './deps.ts';
import { sweepSpentAssertions } from './providers/queries.ts';
import { forgetEnded } from './refresh-queries.ts';
import { forgetClientAssertions } from './spent-client-assertions.ts';

/** Now and then: signing keys are rotated in time, and what has run out is forgotten. */
export async function keepAuthHouse(
  { database, keys, clock }: AuthDeps,
  institutionIds: readonly InstitutionId[],
): Promise<void> {
  await keys.keep();
  const now = clock();
  for (const institutionId of institutionIds) {
    await database.write(institutionId, async (db) => {
      await forgetClientAssertions(db, institutionId, now);
      await sweepSpentAssertions(db, institutionId, now);
      await forgetEnded(db, institutionId, now);
    });
  }
}
