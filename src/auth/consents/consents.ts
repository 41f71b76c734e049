import { appendAudit, type Origin } from '../../events/index.ts';
import type { MemberActor } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { Transaction } from '../../storage/index.ts';
import { endGrants, selectGrantsOfConsent } from '../authorization/grant-queries.ts';
import type { AuthDeps } from '../deps.ts';
import { clockSkewMillis, longestTokenSeconds } from '../keys/key-states.ts';
import { type ConsentRow, endConsent, lockConsent, selectConsents } from './consent-queries.ts';

/** The consents of the member that are in force, newest first. */
export function listConsents({ database, clock }: AuthDeps, actor: MemberActor): Promise<ConsentRow[]> {
  return database.read(actor.institutionId, (db) => selectConsents(db, actor.userKey, clock()));
}

/** Ends a consent with all tokens that came of it. Problem `not_found` for another member's, and for one that has ended. */
export async function withdrawConsent(
  deps: AuthDeps,
  actor: MemberActor,
  withdrawn: { readonly consentId: string; readonly origin: Origin },
): Promise<void> {
  if (!(await endOwnConsent(deps, actor, withdrawn))) {
    throw new Problem('not_found', 'There is no such consent.');
  }
}

/** The same; false for another member's consent, and for one that has ended. */
export function endOwnConsent(
  { database, clock }: AuthDeps,
  { institutionId, userKey }: Pick<MemberActor, 'institutionId' | 'userKey'>,
  { consentId, origin }: { readonly consentId: string; readonly origin: Origin },
): Promise<boolean> {
  const at = clock();
  return database.transaction(institutionId, async (tx) => {
    const consent = await lockConsent(tx, consentId);
    if (consent?.userKey !== userKey || consent.endedAt !== null) return false;
    await endConsentAndGrants(tx, consent, { at, by: 'MEMBER' });
    const { clientId, userId } = consent;
    const entry = { action: 'consent.ended', outcome: 'succeeded', reason: 'member' } as const;
    await appendAudit(tx, { ...entry, origin, clientId, userId, subject: consentId }, at);
    return true;
  });
}

/** The caller holds the lock of the consent, so a grant that was being written is there now. */
export async function endConsentAndGrants(
  tx: Transaction,
  { consentId }: ConsentRow,
  { at, by }: { readonly at: Date; readonly by: NonNullable<ConsentRow['endedBy']> },
): Promise<void> {
  await endConsent(tx, consentId, { at, by });
  const expiresAt = new Date(at.getTime() + longestTokenSeconds * 1000 + clockSkewMillis);
  await endGrants(tx, await selectGrantsOfConsent(tx, consentId), { at, expiresAt });
}
