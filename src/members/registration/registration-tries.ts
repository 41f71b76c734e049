import { Problem } from '../../shared/problem.ts';
import type { Database, InstitutionId } from '../../storage/index.ts';
import { deleteOldTries, insertTry, selectPause } from './registration-try-queries.ts';

/** Tries of one member number before the first pause. */
const freeTries = 20;
const forgottenMillis = 24 * 60 * 60_000;

/**
 * Counts a try to register a member number before anything is looked up, known number or not, so that neither guessing e-mail
 * addresses nor birth dates gets far, and the pause tells nothing. From the twentieth try on each is followed by a pause,
 * of a minute, then twice as long, up to an hour; a day without a try forgets them, and so does a success. Counted in the
 * database, for all processes.
 *
 * Problem `too_many_requests` during a pause.
 */
export async function takeRegistrationTry(
  database: Database,
  institutionId: InstitutionId,
  memberNumber: string,
  now: Date,
): Promise<void> {
  const forgottenBefore = new Date(now.getTime() - forgottenMillis);
  const rule = { now, forgottenBefore, freeTries };
  const taken = await database.write(institutionId, (db) => insertTry(db, memberNumber, rule));
  if (taken) return;
  const pausedUntil = await database.read(institutionId, (db) => selectPause(db, memberNumber));
  const millis = (pausedUntil ?? now).getTime() - now.getTime();
  throw new Problem('too_many_requests', 'There were too many tries to register this member number.', {
    retryAfterSeconds: Math.max(1, Math.ceil(millis / 1000)),
  });
}

/** Forgets the tries of more than a day ago. */
export async function forgetRegistrationTries(
  database: Database,
  institutionId: InstitutionId,
  now: Date,
): Promise<void> {
  const before = new Date(now.getTime() - forgottenMillis);
  await database.write(institutionId, (db) => deleteOldTries(db, before));
}
