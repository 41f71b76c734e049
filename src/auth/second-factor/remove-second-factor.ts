import { appendAudit, appendEvents, type Origin } from '../../events/index.ts';
import { selectUserByName } from '../../members/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import type { AuthDeps } from '../deps.ts';
import { deleteAuthenticator } from './authenticator-queries.ts';

type Removed =
  /** No user has this name, or two have it. */
  'no_such_user' | 'unchanged' | 'changed';

/**
 * Removes a member's authenticator app and recovery codes for an operator, who has made sure of the person. It is the only way out for a member
 * who lost both: a new password or an activation code leaves the second step as it is. Passkeys stay.
 */
export async function removeSecondFactor(
  { database, clock }: Pick<AuthDeps, 'database' | 'clock'>,
  institutionId: InstitutionId,
  {
    name,
    statedReason,
    origin,
  }: { readonly name: string; readonly statedReason?: string | undefined; readonly origin: Origin },
): Promise<Removed> {
  return database.transaction(institutionId, async (tx) => {
    const user = await selectUserByName(tx, name);
    if (user === undefined) return 'no_such_user';
    const { userId, userKey } = user;
    const subject = await deleteAuthenticator(tx, userKey);
    if (subject === undefined) return 'unchanged';
    const at = clock();
    await appendEvents(tx, [{ kind: 'member.second_factor_removed', subjectKey: userKey }], at);
    const entry = { action: 'user.second_factor_removed', outcome: 'succeeded', userId, subject } as const;
    await appendAudit(tx, { ...entry, statedReason, origin }, at);
    return 'changed';
  });
}
