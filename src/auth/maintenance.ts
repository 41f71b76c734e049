import type { InstitutionId } from '../storage/index.ts';
import { deleteOldGrants } from './authorization/grant-queries.ts';
import { deleteExpiredClientAssertions } from './clients/replay-cache.ts';
import type { AuthDeps } from './deps.ts';
import { deleteExpiredProofs } from './dpop/proof-queries.ts';
import { deleteExpiredChallenges } from './passkeys/passkey-queries.ts';
import { deleteExpiredAssertions } from './providers/replay-cache.ts';
import { deleteEndedTokens } from './refresh/refresh-queries.ts';
import { deleteExpiredSessions } from './sessions/session-queries.ts';
import { deleteDevicesBefore } from './sign-in/device-queries.ts';
import { deviceDays } from './sign-in/devices.ts';

const dayMillis = 24 * 60 * 60_000;

/** Deletes an institution's expired rows. `SigningKeys.maintain` rotates the signing keys. */
export async function runAuthMaintenance(
  { database, clock }: Pick<AuthDeps, 'database' | 'clock'>,
  institutionId: InstitutionId,
): Promise<void> {
  const now = clock();
  await database.write(institutionId, async (db) => {
    await deleteExpiredClientAssertions(db, now);
    await deleteExpiredAssertions(db, now);
    await deleteExpiredProofs(db, now);
    await deleteEndedTokens(db, now);
    await deleteExpiredSessions(db, now);
    await deleteExpiredChallenges(db, now);
    await deleteOldGrants(db, now);
    await deleteDevicesBefore(db, new Date(now.getTime() - deviceDays * dayMillis));
  });
}
