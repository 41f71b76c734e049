import { appendAudit, type CommandOrigin, type Origin } from '../../events/index.ts';
import { coveredKeys, type InstitutionId, type MemberActor } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import { isUuid } from '../../shared/uuid.ts';
import type { Transaction } from '../../storage/index.ts';
import { endGrants, selectGrantsOfConsent } from '../authorization/grant-queries.ts';
import type { AuthDeps } from '../deps.ts';
import { clockSkewMillis, longestTokenSeconds } from '../keys/key-states.ts';
import { type ConsentableAccount, selectConsented } from './consent-account-queries.ts';
import { appendConsentEvent } from './consent-event.ts';
import { type ConsentRow, endConsent, lockConsent, selectConsents } from './consent-queries.ts';

/** A consent with the accounts that it names and its member still holds. */
export interface Consent extends ConsentRow {
  readonly accounts: readonly Omit<ConsentableAccount, 'accountKey'>[];
}

export function shownConsent(consent: ConsentRow, accounts: readonly ConsentableAccount[]): Consent {
  return { ...consent, accounts: accounts.map(({ accountKey: _, ...account }) => account) };
}

/** The consents of the member that are in force, newest first. An app sees the accounts in them that its own consent covers. */
export function listConsents({ database, clock }: AuthDeps, actor: MemberActor): Promise<Consent[]> {
  const covered = coveredKeys(actor);
  return database.read(actor.institutionId, async (db) => {
    const rows = await selectConsents(db, actor.userKey, clock());
    const ids = rows.map(({ consentId }) => consentId);
    const accounts = await selectConsented(db, ids);
    const seen = accounts.filter(({ accountKey }) => covered?.includes(accountKey) ?? true);
    return rows.map((row) =>
      shownConsent(
        row,
        seen.filter((one) => one.consentId === row.consentId),
      ),
    );
  });
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
    await auditEnd(tx, consent, { at, origin, reason: 'member' });
    return true;
  });
}

/** Likewise by an operator. Undefined if there is no such consent; false if it had ended. */
export async function endConsentByOperator(
  { database, clock }: AuthDeps,
  institutionId: InstitutionId,
  act: {
    readonly consentId: string;
    readonly statedReason?: string | undefined;
    readonly origin: CommandOrigin;
  },
): Promise<boolean | undefined> {
  const { consentId, statedReason, origin } = act;
  if (!isUuid(consentId)) return undefined;
  const at = clock();
  return database.transaction(institutionId, async (tx) => {
    const consent = await lockConsent(tx, consentId);
    if (consent === undefined) return undefined;
    if (consent.endedAt !== null) return false;
    await endConsentAndGrants(tx, consent, { at, by: 'OPERATOR' });
    await auditEnd(tx, consent, { at, origin, reason: 'operator', statedReason });
    return true;
  });
}

async function auditEnd(
  tx: Transaction,
  { consentId, clientId, userId }: ConsentRow,
  {
    at,
    ...facts
  }: {
    readonly at: Date;
    readonly origin: Origin;
    readonly reason: string;
    readonly statedReason?: string | undefined;
  },
): Promise<void> {
  const entry = { action: 'consent.ended', outcome: 'succeeded', clientId, userId } as const;
  await appendAudit(tx, { ...entry, ...facts, subject: consentId }, at);
}

/** The caller holds the lock of the consent, so a grant that was being written is there now. */
export async function endConsentAndGrants(
  tx: Transaction,
  consent: ConsentRow,
  { at, by }: { readonly at: Date; readonly by: NonNullable<ConsentRow['endedBy']> },
): Promise<void> {
  const { consentId } = consent;
  await endConsent(tx, consentId, { at, by });
  const expiresAt = new Date(at.getTime() + longestTokenSeconds * 1000 + clockSkewMillis);
  await endGrants(tx, await selectGrantsOfConsent(tx, consentId), { at, expiresAt });
  await appendConsentEvent(tx, { kind: 'consent.ended', consent, endedBy: by, at });
}
