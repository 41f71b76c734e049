import { Problem } from '../shared/problem.ts';
import type { InstitutionId } from '../storage/index.ts';
import { rulesOf, targetRefusal, type WebhookDeps } from '../webhooks/index.ts';

/** Problem `invalid_request` for an address that the service does not send to, as far as its text shows. */
export async function requireLogoutUri(
  deps: WebhookDeps,
  institutionId: InstitutionId,
  uri: string,
): Promise<void> {
  if (targetRefusal(uri, await rulesOf(deps, institutionId)) === undefined) return;
  throw new Problem(
    'invalid_request',
    'The address of the back-channel logout is https://…, public, at a port of WEBHOOK_PORTS, without a user, a password or a fragment.',
  );
}
