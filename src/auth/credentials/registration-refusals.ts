import type { ClientActor } from '../../institutions/index.ts';
import { Problem, type ProblemCode } from '../../shared/problem.ts';
import { selectRegistrationRefusals } from '../clients/client-queries.ts';
import type { AuthDeps } from '../deps.ts';

/** These refusals always reveal whether a member number, an e-mail address or a login exists. */
const revealing: readonly ProblemCode[] = [
  'member_not_found',
  'identity_mismatch',
  'member_already_registered',
];

/**
 * The refusal of a registration for this client: the refusal itself if the client is set to DISTINCT, else Problem
 * `registration_refused`. The setting is read for each revealing refusal, so that all take the same time.
 */
export async function refusalFor(
  deps: Pick<AuthDeps, 'database'>,
  { institutionId, clientId }: ClientActor,
  refusal: Problem,
): Promise<Problem> {
  if (!revealing.includes(refusal.code) && !refusal.revealsMembership) return refusal;
  const setting = await deps.database.read(institutionId, (db) => selectRegistrationRefusals(db, clientId));
  if (setting === 'DISTINCT') return refusal;
  return new Problem('registration_refused', 'The member cannot be registered with these details.', {
    cause: refusal,
  });
}
