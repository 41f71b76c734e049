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
  { database, clock }: AuthDeps,
  actor: MemberActor,
  { consentId, origin }: { readonly consentId: string; readonly origin: Origin },
): Promise<void> {
  const at = clock();
  await database.transaction(actor.institutionId, async (tx) => {
    const consent = await lockConsent(tx, consentId);
    if (consent?.userKey !== actor.userKey || consent.endedAt !== null) {
      throw new Problem('not_found', 'There is no such consent.');
    }
    await endConsentAndGrants(tx, consent, { at, by: 'MEMBER' });
    const { clientId, userId } = consent;
    const entry = { action: 'consent.ended', outcome: 'succeeded', reason: 'member' } as const;
    await appendAudit(tx, { ...entry, origin, clientId, userId, subject: consentId }, at);
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
