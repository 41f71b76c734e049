import { randomUUID } from 'node:crypto';
import { appendAudit, type Origin } from '../../events/index.ts';
import type { Transaction } from '../../storage/index.ts';
import { accountText, type ChosenAccounts } from '../consents/account-choice.ts';
import { insertConsented } from '../consents/consent-account-queries.ts';
import { appendConsentEvent } from '../consents/consent-event.ts';
import { insertConsent, lockCurrentConsent } from '../consents/consent-queries.ts';
import { endConsentAndGrants } from '../consents/consents.ts';
import type { AuthDeps } from '../deps.ts';
import { purposeAt } from '../hosts/at-host.ts';
import { clockSkewMillis, longestTokenSeconds } from '../keys/key-states.ts';
import { newSecret } from '../sessions/browser.ts';
import { lockOpenSession, type SessionRow } from '../sessions/session-queries.ts';
import { UnsafeRequestError } from './authorization-error.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import { insertGrant } from './grant-queries.ts';

const dayMillis = 24 * 60 * 60_000;
/** RFC 6749 section 4.1.2 allows ten minutes; the app exchanges it at once. */
const codeMillis = 60_000;

/** The hash that the database stores. A code is exchanged at the issuer that gave it. */
export function codeHash(deps: Pick<AuthDeps, 'vault' | 'host'>, code: string): Buffer {
  return deps.vault.hash(purposeAt(deps, 'authorization code'), code);
}

export interface Consented {
  readonly days: number;
  readonly accounts: ChosenAccounts;
}

interface Granted {
  readonly request: AuthorizationRequest;
  readonly isFirstParty: boolean;
  readonly session: SessionRow;
  /** The member has just consented so. Undefined: an earlier consent covers the request, or none is needed. */
  readonly consented: Consented | undefined;
  readonly origin: Origin;
}

/**
 * A code that the app exchanges for tokens, once. `consent_missing`: the consent that covered the request has just ended. Throws
 * UnsafeRequestError, and changes nothing, if a code came of this request already or the session has ended.
 */
export async function issueCode(
  deps: AuthDeps,
  granted: Granted,
): Promise<{ readonly text: string } | 'consent_missing'> {
  const { request, session, origin } = granted;
  const { institutionId, clientId } = request;
  const { userKey, userId, userEpoch, sessionId, authenticatedAt, methods } = session;
  const text = newSecret();
  const createdAt = deps.clock();
  const after = (millis: number) => new Date(createdAt.getTime() + millis);
  const longestTokenMillis = longestTokenSeconds * 1000 + clockSkewMillis;
  return deps.database.transaction(institutionId, async (tx) => {
    // Before all else, as every transaction that ends sessions does. The end waits, so that it finds the grant and the app hears of it.
    if (!(await lockOpenSession(tx, sessionId))) {
      throw new UnsafeRequestError('You have signed out. Go back to the app and start again.');
    }
    const consentId = await consentFor(tx, granted, createdAt);
    if (consentId === undefined) return 'consent_missing';
    const grantId = randomUUID();
    const isNew = await insertGrant(tx, {
      ...{ grantId, requestId: request.requestId, codeHash: codeHash(deps, text) },
      ...{ clientId, userKey, userEpoch, sessionId, consentId, redirectUri: request.redirectUri },
      ...{ scopes: request.scopes, nonce: request.nonce ?? null, codeChallenge: request.codeChallenge },
      keyThumbprint: request.keyThumbprint ?? null,
      ...{ authenticatedAt, methods, createdAt, expiresAt: after(codeMillis) },
      keptUntil: after(Math.max(deps.refreshTokens.lifetimeMillis, longestTokenMillis) + codeMillis),
    });
    if (!isNew) {
      throw new UnsafeRequestError('This page was sent before. Go back to the app and start again.');
    }
    const entry = {
      action: 'authorization.granted',
      outcome: 'succeeded',
      origin,
      clientId,
      userId,
    } as const;
    await appendAudit(tx, { ...entry, subject: grantId, after: { scopes: request.scopes } }, createdAt);
    return { text };
  });
}

/** The consent that the grant stands on, locked until the grant is written; null if none is needed, undefined if it is missing. */
async function consentFor(tx: Transaction, granted: Granted, at: Date): Promise<string | null | undefined> {
  const { request, isFirstParty, session, consented, origin } = granted;
  const { clientId, scopes } = request;
  const { userKey, userId } = session;
  if (consented === undefined) {
    if (isFirstParty) return null;
    const current = await lockCurrentConsent(tx, { userKey, clientId });
    const covers = current !== undefined && current.expiresAt > at && isWithin(scopes, current.scopes);
    return covers ? current.consentId : undefined;
  }
  const consentId = randomUUID();
  const { allAccounts, named } = consented.accounts;
  const expiresAt = new Date(at.getTime() + consented.days * dayMillis);
  const consent = { consentId, clientId, userKey, scopes, grantedAt: at, expiresAt, allAccounts };
  do {
    const current = await lockCurrentConsent(tx, { userKey, clientId });
    if (current !== undefined) await endConsentAndGrants(tx, current, { at, by: 'REPLACED' });
    // Not inserted if the member has just consented on another page, too. The next look finds that consent.
  } while (!(await insertConsent(tx, consent)));
  if ((await insertConsented(tx, consentId, named)) < named.length) {
    throw new UnsafeRequestError('Your accounts have changed. Go back to the app and start again.');
  }
  await appendConsentEvent(tx, { kind: 'consent.granted', consent, accounts: named, at });
  const entry = { action: 'consent.granted', outcome: 'succeeded', origin, clientId, userId } as const;
  const after = { scopes, expiresAt, accounts: allAccounts ? 'all' : named.map(accountText) };
  await appendAudit(tx, { ...entry, subject: consentId, after }, at);
  return consentId;
}

function isWithin(scopes: readonly string[], allowed: readonly string[]): boolean {
  return scopes.every((scope) => allowed.includes(scope));
}
