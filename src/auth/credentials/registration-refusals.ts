import type { ClientActor } from '../../institutions/index.ts';
import { Problem, type ProblemCode } from '../../shared/problem.ts';
import { selectRegistrationRefusals } from '../clients/client-queries.ts';
import type { AuthDeps } from '../deps.ts';

/** These refusals always reveal whether a member number, an e-mail address or a login exists. */
const telling: readonly ProblemCode[] = [
  'member_not_found',
  'identity_mismatch',
  'member_already_registered',
];

/**
 * A refused registration as this client may know it: the refusal itself for a client that is set to DISTINCT, one Problem
 * `registration_refused` for all others. The setting is read after every telling refusal alike, so that none takes longer.
 */
export async function refusalFor(
  deps: Pick<AuthDeps, 'database'>,
  { institutionId, clientId }: ClientActor,
  refusal: Problem,
): Promise<Problem> {
  if (!telling.includes(refusal.code) && !refusal.revealsMembership) return refusal;
  const setting = await deps.database.read(institutionId, (db) =>
    selectRegistrationRefusals(db, institutionId, clientId),
  );
  if (setting === 'DISTINCT') return refusal;
  return new Problem('registration_refused', 'The member cannot be registered with these details.', {
    cause: refusal,
  });
}
