import { randomUUID } from 'node:crypto';
import { appendAudit } from '../../events/index.ts';
import { findBrand } from '../../institutions/index.ts';
import { isUuid } from '../../shared/uuid.ts';
import { UnsafeRequestError } from '../authorization/authorization-error.ts';
import {
  activeClient,
  type Parameters,
  parameterOf,
  type SecurityOutcome,
  type Step,
  signInPage,
} from '../authorization/authorize.ts';
import {
  openRequest,
  type SealedRequest,
  type SecurityPage,
  sealRequest,
} from '../authorization/sealed-request.ts';
import { narrowOwn } from '../consents/narrow-consent.ts';
import type { AuthDeps } from '../deps.ts';
import { deletePasskey, insertPasskey, selectPasskeys, spendChallenge } from '../passkeys/passkey-queries.ts';
import { creationOptions, relyingPartyOf, userHandleOf } from '../passkeys/relying-party.ts';
import { verifyEnrollment } from '../passkeys/verify-passkey.ts';
import { selectAuthenticator } from '../second-factor/authenticator-queries.ts';
import { type Browser, newSecret } from '../sessions/browser.ts';
import { endOtherSessions, type SessionRow } from '../sessions/session-queries.ts';
import { findSession } from '../sessions/sessions.ts';
import { endAccess, readAccess, readAccesses } from './accesses.ts';

export const securityPath = '/auth/v2/security';
export const pageMillis = 10 * 60_000;
/** A change needs a sign-in of the last minutes, so that a device left open adds no passkey (ASVS 5.0, 7.5.1). */
const recentMillis = 10 * 60_000;
const mostPasskeys = 10;

/** The page of a member's passkeys, browsers, apps, consents and last sign-ins. Its `client_id` names an app of the institution. Throws UnsafeRequestError. */
export async function openSecurityPage(
  deps: AuthDeps,
  parameters: Parameters,
  browser: Browser,
): Promise<Step> {
  const clientId = parameterOf(parameters, 'client_id');
  const institutionId = clientId && (await deps.clientDirectory.institutionOf(clientId));
  if (!clientId || !institutionId) throw new UnsafeRequestError('The app is not known here.');
  const place = { institutionId, clientId };
  browser.recognize?.(place);
  const session = await findSession(deps, institutionId, browser);
  return session !== undefined && isRecent(deps, session)
    ? securityPage(deps, place, { session })
    : signInFirst(deps, place, { browser, session });
}

/** Adds the passkey that the browser made for the page's challenge. */
export async function addPasskey(
  deps: AuthDeps,
  sent: { readonly request: string; readonly credential: string; readonly name: string },
  browser: Browser,
): Promise<Step> {
  return change(deps, sent.request, browser, async ({ page, session }) => {
    const name = sent.name.trim();
    if (!/^[^\p{Cc}]{1,64}$/u.test(name)) return 'refused';
    const { challenge, institutionId } = page;
    const relyingParty = relyingPartyOf(deps.issuer);
    const key = await verifyEnrollment({ credential: sent.credential, challenge, relyingParty });
    if (key === undefined) return 'refused';
    const at = deps.clock();
    const expiresAt = new Date(at.getTime() + pageMillis);
    return deps.database.transaction(institutionId, async (tx) => {
      if (!(await spendChallenge(tx, Buffer.from(challenge, 'base64url'), expiresAt))) return 'refused';
      const passkeyId = randomUUID();
      const { userKey, userId } = session;
      if (!(await insertPasskey(tx, { ...key, passkeyId, userKey, name, createdAt: at }))) return 'refused';
      const { origin } = browser;
      const entry = { action: 'passkey.added', outcome: 'succeeded', origin, userId } as const;
      await appendAudit(tx, { ...entry, clientId: page.clientId, subject: passkeyId }, at);
      return 'added';
    });
  });
}

/** Removes a passkey, for example of a lost device, and ends the member's sessions in other browsers. */
export async function removePasskey(
  deps: AuthDeps,
  sent: { readonly request: string; readonly passkeyId: string },
  browser: Browser,
): Promise<Step> {
  return change(deps, sent.request, browser, async ({ page: { institutionId, clientId }, session }) => {
    const { passkeyId } = sent;
    if (!/^[0-9a-f-]{36}$/.test(passkeyId)) return 'refused';
    const { userKey, userId } = session;
    const { origin } = browser;
    const at = deps.clock();
    return deps.database.transaction(institutionId, async (tx) => {
      if (!(await deletePasskey(tx, userKey, passkeyId))) return 'refused';
      const facts = { outcome: 'succeeded', origin, clientId, userId } as const;
      await appendAudit(tx, { ...facts, action: 'passkey.removed', subject: passkeyId }, at);
      for (const subject of await endOtherSessions(tx, session, at)) {
        await appendAudit(tx, { ...facts, action: 'session.ended', reason: 'passkey_removed', subject }, at);
      }
      return 'removed';
    });
  });
}

/** Ends a session in another browser, an app's sign-in, a consent, or all of the first two. */
export async function endAccessOnPage(
  deps: AuthDeps,
  sent: { readonly request: string; readonly access: string },
  browser: Browser,
): Promise<Step> {
  return change(deps, sent.request, browser, async ({ page: { institutionId }, session }) => {
    const access = readAccess(sent.access);
    // The session of the page ends by signing out.
    if (access === undefined || (access.kind === 'browser' && access.id === session.sessionId))
      return 'refused';
    const { origin } = browser;
    const isEnded = await endAccess(deps, { institutionId, session, origin }, access);
    // A second click finds it ended, as the member wanted.
    return isEnded ? 'ended' : 'ended_before';
  });
}

/** Takes an account, the right to pay from it, or a scope out of a consent: `removed` is the consent, the kind and the name. */
export async function narrowConsentOnPage(
  deps: AuthDeps,
  sent: { readonly request: string; readonly removed: string },
  browser: Browser,
): Promise<Step> {
  return change(deps, sent.request, browser, async ({ page: { institutionId }, session: { userKey } }) => {
    const [consentId = '', kind, name = '', ...more] = sent.removed.split(' ');
    if (!isUuid(consentId) || more.length > 0 || name === '') return 'refused';
    const of = (one: string) => (kind === one ? [name] : []);
    const narrowing = { accountIds: of('see'), payingAccountIds: of('pay'), scopes: of('scope') };
    const { origin } = browser;
    const narrowed = await narrowOwn(deps, { institutionId, userKey }, { consentId, narrowing, origin });
    if (narrowed === 'nothing_left') return 'refused';
    if (narrowed === 'unknown') return 'ended_before';
    return narrowed.isChanged ? 'narrowed' : 'ended_before';
  });
}

export type Place = Pick<SecurityPage, 'institutionId' | 'clientId'>;

/** Runs a change, and shows the page again with its outcome. */
export async function change(
  deps: AuthDeps,
  text: string,
  browser: Browser,
  act: (facts: { readonly page: SecurityPage; readonly session: SessionRow }) => Promise<SecurityOutcome>,
): Promise<Step> {
  return onPage(deps, { kind: 'security', text, browser }, async ({ page, session }) =>
    securityPage(deps, page, { session, outcome: await act({ page, session }) }),
  );
}

type MemberPage = Extract<SealedRequest, { kind: 'security' | 'authenticator' }>;

/** Opens a page of the member if its session goes on in this browser and is recent; otherwise the member signs in first. Throws UnsafeRequestError. */
export async function onPage<Kind extends MemberPage['kind']>(
  deps: AuthDeps,
  { kind, text, browser }: { readonly kind: Kind; readonly text: string; readonly browser: Browser },
  work: (facts: {
    readonly page: Extract<SealedRequest, { kind: Kind }>;
    readonly session: SessionRow;
  }) => Promise<Step>,
): Promise<Step> {
  const page = openRequest(deps, text, { kind, nowMillis: deps.clock().getTime() });
  if (page === undefined) throw new UnsafeRequestError('This page has expired. Open it again.');
  const { institutionId, clientId, sessionId } = page as MemberPage;
  browser.recognize?.({ institutionId, clientId });
  const session = await findSession(deps, institutionId, browser);
  if (session?.sessionId !== sessionId || !isRecent(deps, session)) {
    return signInFirst(deps, { institutionId, clientId }, { browser, session });
  }
  return work({ page, session });
}

export async function securityPage(
  deps: AuthDeps,
  { institutionId, clientId }: Place,
  { session, outcome }: { readonly session: SessionRow; readonly outcome?: SecurityOutcome },
): Promise<Step> {
  const { sessionId, userKey, userId, username } = session;
  const brand = await deps.database.directory((db) => findBrand(db, { institutionId, clientId }));
  const passkeys = await deps.database.read(institutionId, (db) => selectPasskeys(db, userKey));
  const accesses = await readAccesses(deps, institutionId, session);
  const authenticator = await deps.database.read(institutionId, (db) => selectAuthenticator(db, userKey));
  const challenge = newSecret();
  const expiresAtMillis = deps.clock().getTime() + pageMillis;
  const sealed = {
    kind: 'security',
    expiresAtMillis,
    institutionId,
    clientId,
    sessionId,
    challenge,
  } as const;
  const options = creationOptions(relyingPartyOf(deps.issuer), {
    ...{ institutionName: brand.name, challenge, userHandle: userHandleOf(institutionId, userId) },
    username: username ?? userId,
    existing: passkeys.map(({ credentialId }) => credentialId),
  });
  return {
    kind: 'security',
    ...{
      brand,
      passkeys,
      authenticator,
      accesses,
      outcome,
      request: sealRequest(deps, sealed),
    },
    creationOptions: passkeys.length < mostPasskeys ? options : undefined,
  };
}

/** The page of sign-in, which leads back here. */
async function signInFirst(
  deps: AuthDeps,
  { institutionId, clientId }: Place,
  { browser, session }: { readonly browser: Browser; readonly session: SessionRow | undefined },
): Promise<Step> {
  const client = await activeClient(deps, institutionId, clientId);
  const { origin } = relyingPartyOf(deps.issuer);
  const redirectUri = `${origin}${securityPath}?client_id=${encodeURIComponent(clientId)}`;
  const request = {
    ...{ requestId: randomUUID(), institutionId, clientId, redirectUri, isForSecurityPage: true as const },
    ...{ scopes: [], prompts: [], codeChallenge: '' },
    askedFor: session && ('security' as const),
  };
  return signInPage(deps, { request, client, browser });
}

function isRecent({ clock }: AuthDeps, { authenticatedAt }: SessionRow): boolean {
  return clock().getTime() - authenticatedAt.getTime() < recentMillis;
}
