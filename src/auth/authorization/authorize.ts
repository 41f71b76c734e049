import { randomUUID } from 'node:crypto';
import { type Brand, findBrand } from '../../institutions/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import { type AuthorizingClient, selectAuthorizingClient } from '../clients/authorizing-client.ts';
import { authenticateClient } from '../clients/client-authentication.ts';
import { asksForAccounts, asksToPay, readChoice, type SentChoice } from '../consents/account-choice.ts';
import { type ConsentableAccount, selectConsentable } from '../consents/consent-account-queries.ts';
import { selectCurrentConsent } from '../consents/consent-queries.ts';
import type { AuthDeps } from '../deps.ts';
import { readProof, useProof } from '../dpop/check-proof.ts';
import type { ListedPasskey } from '../passkeys/passkey-queries.ts';
import { provePasskey } from '../passkeys/prove-passkey.ts';
import { relyingPartyOf, requestOptions } from '../passkeys/relying-party.ts';
import type { AuthenticatorRow } from '../second-factor/authenticator-queries.ts';
import type { Accesses } from '../security/accesses.ts';
import { type Browser, browserHash, type NewCookies, newSecret } from '../sessions/browser.ts';
import type { SessionRow } from '../sessions/session-queries.ts';
import { beginSession, findSession, leaveSession } from '../sessions/sessions.ts';
import { networkOf } from '../sign-in/network.ts';
import { type HalfProvenMember, type ProvenMember, provePassword } from '../sign-in/prove-password.ts';
import { OAuthError } from '../tokens/oauth-error.ts';
import { type RawTokenRequest, TokenRequest } from '../tokens/token-request.ts';
import type { ActivationRefusal } from './activation-refusals.ts';
import { AuthorizationError, UnsafeRequestError } from './authorization-error.ts';
import {
  type AskedFor,
  type AuthorizationRequest,
  readAuthorizationRequest,
} from './authorization-request.ts';
import { type Consented, issueCode } from './issue-code.ts';
import { askedFor, nextStep } from './next-step.ts';
import { isProvenAddress, isRegistered, withParameters } from './redirect-uri.ts';
import { openRequest, type SealedRequest, sealRequest } from './sealed-request.ts';

/** A page waits for the member this long. */
const pageMillis = 30 * 60_000;
/** The right password waits this long for the code. */
const codePageMillis = 5 * 60_000;
const pushedPrefix = 'urn:ietf:params:oauth:request_uri:';
/** An app opens a pushed request at once (RFC 9126 section 2.2). */
const pushedMillis = 90_000;

interface PageFacts {
  readonly institutionId: InstitutionId;
  readonly brand: Brand;
  readonly clientName: string;
  /** The address to which the page's form leads in the end. */
  readonly redirectUri: string;
  /** The hidden field that the page sends back. */
  readonly request: string;
}

/** The response to a browser. */
export type Step = { readonly cookies?: NewCookies } & (
  | { readonly kind: 'redirect'; readonly to: string }
  | ({
      readonly kind: 'sign_in';
      readonly username: string | undefined;
      readonly isRefused: boolean;
      /** The reason to sign in again; undefined for a first sign-in. */
      readonly askedFor: AskedFor | undefined;
      /** PublicKeyCredentialRequestOptionsJSON. */
      readonly passkeyOptions: object;
    } & PageFacts)
  | ({
      /** The second step of a sign-in by password. */
      readonly kind: 'code';
      readonly isRefused: boolean;
    } & PageFacts)
  | ({
      readonly kind: 'activation';
      readonly username: string | undefined;
      readonly refusal: ActivationRefusal | undefined;
      /** The member asked for a code a moment ago. */
      readonly isCodeOnItsWay?: boolean;
    } & PageFacts)
  | ({ readonly kind: 'forgotten'; readonly username: string | undefined } & PageFacts)
  | ({
      readonly kind: 'consent';
      readonly scopes: readonly string[];
      /** The member chooses among these; undefined if the scopes concern no account. */
      readonly accounts: readonly ConsentableAccount[] | undefined;
      readonly asksToPay: boolean;
      /** The member chose no account, or one that is not theirs. */
      readonly isRefused: boolean;
    } & PageFacts)
  | ({ readonly kind: 'security' } & SecurityFacts)
  | {
      readonly kind: 'authenticator';
      readonly brand: Brand;
      readonly request: string;
      /** For people to type, and for apps to open. */
      readonly secret: string;
      readonly keyUri: string;
      readonly name: string | undefined;
      readonly isRefused: boolean;
    }
  | {
      readonly kind: 'recovery_codes';
      readonly brand: Brand;
      readonly clientId: string;
      readonly codes: readonly string[];
      /** They came with a new authenticator app. */
      readonly isFirst: boolean;
    }
);

export type SecurityOutcome =
  | 'added'
  | 'removed'
  | 'authenticator_removed'
  | 'ended'
  | 'narrowed'
  | 'ended_before'
  | 'refused';

/** A member's own page at the institution. */
interface SecurityFacts {
  readonly brand: Brand;
  /** The hidden field that the page's forms send back. */
  readonly request: string;
  readonly passkeys: readonly ListedPasskey[];
  /** PublicKeyCredentialCreationOptionsJSON; undefined if the member has as many passkeys as allowed. */
  readonly creationOptions: object | undefined;
  /** The second step of a sign-in by password; undefined if there is none. */
  readonly authenticator: Omit<AuthenticatorRow, 'sealedSecret' | 'lastStep'> | undefined;
  readonly accesses: Accesses;
  readonly outcome: SecurityOutcome | undefined;
}

/** Parameters of a query or a form; the names that came more than once stand beside them. */
export interface Parameters {
  readonly values: Readonly<Record<string, unknown>>;
  readonly repeated: readonly string[];
}

/**
 * RFC 6749 section 4.1.1 with PKCE (RFC 7636). Throws UnsafeRequestError while the client or its address is not certain; every later refusal
 * returns to the app.
 */
export async function authorize(deps: AuthDeps, parameters: Parameters, browser: Browser): Promise<Step> {
  const clientId = parameterOf(parameters, 'client_id');
  const institutionId = clientId && (await deps.clientDirectory.institutionOf(clientId));
  if (!clientId || !institutionId) throw new UnsafeRequestError('The app is not known here.');
  const client = await activeClient(deps, institutionId, clientId);
  browser.recognize?.({ institutionId, clientId });
  const pushed = parameterOf(parameters, 'request_uri');
  const request =
    pushed === undefined
      ? readRequest(deps, client, institutionId, parameters)
      : openPushed(deps, clientId, pushed);
  if ('kind' in request) return withIssuer(deps, request);
  if (pushed === undefined && client.securityProfile === 'FAPI2') {
    const error = new AuthorizationError('invalid_request', 'The app must push its request (RFC 9126).');
    return refusal(deps, request, error);
  }
  return proceed(deps, { request, client, browser });
}

export interface PushedRequest {
  readonly request_uri: string;
  readonly expires_in: number;
}

/** RFC 9126: an authenticated client lays down its request, and the browser carries only its name. Throws OAuthError. */
export async function pushRequest(deps: AuthDeps, raw: RawTokenRequest): Promise<PushedRequest> {
  const proof = readProof(deps, raw);
  const authenticated = await authenticateClient(deps, new TokenRequest(raw));
  const { clientId, institutionId } = authenticated;
  raw.countFor?.(clientId);
  const client = await activeClient(deps, institutionId, clientId);
  const parameters = { values: { ...raw.parameters, client_id: clientId }, repeated: raw.repeated };
  if (parameterOf(parameters, 'request_uri') !== undefined) {
    throw new OAuthError('invalid_request', 'request_uri cannot be pushed.');
  }
  const request = withKey(
    readPushed(deps, client, institutionId, parameters),
    proof && (await useProof(deps, authenticated, proof)),
  );
  const expiresAtMillis = deps.clock().getTime() + pushedMillis;
  const sealed = sealRequest(deps, { kind: 'pushed', request, expiresAtMillis });
  return { request_uri: pushedPrefix + sealed, expires_in: pushedMillis / 1000 };
}

/** RFC 9449 section 10.1: the proof of a pushed request names the key as `dpop_jkt` does. */
function withKey(request: AuthorizationRequest, keyThumbprint: string | undefined): AuthorizationRequest {
  if (keyThumbprint === undefined) return request;
  if (request.keyThumbprint !== undefined && request.keyThumbprint !== keyThumbprint) {
    throw new OAuthError('invalid_dpop_proof', 'The proof is of another key than dpop_jkt.');
  }
  return { ...request, keyThumbprint };
}

function readPushed(
  deps: AuthDeps,
  client: AuthorizingClient,
  institutionId: InstitutionId,
  parameters: Parameters,
): AuthorizationRequest {
  try {
    const request = readRequest(deps, client, institutionId, parameters);
    if (!('kind' in request)) return request;
    throw request.error;
  } catch (error) {
    if (error instanceof UnsafeRequestError) throw new OAuthError('invalid_request', error.message);
    if (error instanceof AuthorizationError) {
      const known = ['unauthorized_client', 'invalid_scope'] as const;
      throw new OAuthError(known.find((code) => code === error.error) ?? 'invalid_request', error.message);
    }
    throw error;
  }
}

/** Sign-in on the page of a request. A wrong password shows the page again, and the right one of some members asks for a code. */
export async function signIn(
  deps: AuthDeps,
  sent: { readonly request: string; readonly username: string; readonly password: string },
  browser: Browser,
): Promise<Step> {
  const { request, secret } = openPage(deps, sent.request, browser);
  const { institutionId, clientId } = request;
  const client = await activeClient(deps, institutionId, clientId);
  const { username, password } = sent;
  const { origin } = browser;
  const sources = sourcesOf(request, browser);
  const device = { kind: 'browser', secret, userAgent: browser.userAgent } as const;
  const attempt = { institutionId, clientId, username, password, origin, sources, device };
  const proof = await provePassword(deps, attempt).catch((error) => {
    if (!(error instanceof OAuthError)) throw error;
    const entry = { action: 'login', outcome: 'refused', reason: error.error } as const;
    deps.audit.note(institutionId, { ...entry, origin, clientId, ...error.facts });
    return undefined;
  });
  if (proof === undefined) return signInPage(deps, { request, client, browser, refused: username });
  if (proof.kind === 'proven') return signedIn(deps, { request, client, browser, member: proof.member });
  const expiresAtMillis = deps.clock().getTime() + codePageMillis;
  return codePage(deps, {
    request,
    client,
    browser: { ...browser, secret },
    half: proof.half,
    expiresAtMillis,
  });
}

/** Sources of sign-ins that are slowed if they mostly fail. */
export function sourcesOf(
  { institutionId }: AuthorizationRequest,
  { origin }: Pick<Browser, 'origin'>,
): readonly string[] {
  return [`address ${institutionId} ${networkOf(origin.address ?? '')}`];
}

/** Sign-in by passkey on the page of a request, in place of a password. A refused passkey shows the page again, with a new challenge. */
export async function signInWithPasskey(
  deps: AuthDeps,
  sent: { readonly request: string; readonly credential: string },
  browser: Browser,
): Promise<Step> {
  const { request, challenge, expiresAtMillis, secret } = openPage(deps, sent.request, browser);
  const { institutionId, clientId } = request;
  const client = await activeClient(deps, institutionId, clientId);
  const { credential } = sent;
  const { origin } = browser;
  const expiresAt = new Date(expiresAtMillis);
  const device = { kind: 'browser', secret, userAgent: browser.userAgent } as const;
  const attempt = { institutionId, clientId, credential, challenge, expiresAt, origin, device };
  const member = await provePasskey(deps, attempt);
  const refused = request.loginHint ?? '';
  if (member === undefined) return signInPage(deps, { request, client, browser, refused });
  return signedIn(deps, { request, client, browser, member });
}

/** Begins a new session in place of the browser's old one, so that none can be planted. */
export async function signedIn(
  deps: AuthDeps,
  { request, client, browser, member }: Way & { readonly member: ProvenMember },
): Promise<Step> {
  const { institutionId } = request;
  const before = await findSession(deps, institutionId, browser);
  if (before !== undefined) await leaveSession(deps, institutionId, { session: before, browser });
  const { session, secret } = await beginSession(deps, institutionId, { member, browser });
  const step = await proceed(deps, { request, client, browser, fresh: session });
  // Set again, so that a browser in use does not lose it and become a new device.
  const { secret: browserSecret } = browser;
  const cookies = { ...step.cookies, browser: browserSecret, session: { institutionId, secret } };
  return { ...step, cookies };
}

/** The member's answer on the page of consent. */
export async function answerConsent(
  deps: AuthDeps,
  sent: {
    readonly request: string;
    readonly consentDays: number | undefined;
    readonly choice: SentChoice;
  },
  browser: Browser,
): Promise<Step> {
  const { request, signedInAs } = openPage(deps, sent.request, browser);
  const client = await activeClient(deps, request.institutionId, request.clientId);
  const session = await findSession(deps, request.institutionId, browser);
  // The session ended while the page was open, or another member signed in beside it.
  if (session === undefined || (signedInAs !== undefined && signedInAs !== session.sessionId)) {
    return signInPage(deps, { request, client, browser });
  }
  const { consentDays } = sent;
  if (consentDays === undefined) {
    const { userId } = session;
    const entry = { action: 'consent.granted', outcome: 'refused', reason: 'member' } as const;
    const { origin } = browser;
    deps.audit.note(request.institutionId, { ...entry, origin, clientId: request.clientId, userId });
    return refusal(deps, request, new AuthorizationError('access_denied', 'The member refused.'));
  }
  const { institutionId, scopes } = request;
  const held = await deps.database.read(institutionId, (db) => selectConsentable(db, session.userKey));
  const accounts = readChoice(scopes, sent.choice, held);
  if (accounts === undefined) {
    return consentPage(deps, { request, client, browser, session, isRefused: true });
  }
  return codeFor(deps, { request, client, browser, session, consented: { days: consentDays, accounts } });
}

export interface Way {
  readonly request: AuthorizationRequest;
  readonly client: AuthorizingClient;
  readonly browser: Browser;
}

/** Goes on as far as session and consent allow. `fresh`: the session that began on the page of this request. */
async function proceed(deps: AuthDeps, way: Way & { readonly fresh?: SessionRow }): Promise<Step> {
  const { request, client, browser, fresh } = way;
  const { institutionId, clientId } = request;
  const session = fresh ?? (await findSession(deps, institutionId, browser));
  const consent =
    session &&
    (await deps.database.read(institutionId, (db) =>
      selectCurrentConsent(db, { userKey: session.userKey, clientId }),
    ));
  const { isFirstParty, isPublic } = client;
  const now = deps.clock();
  const isUnprovenApp = isPublic && !isProvenAddress(request.redirectUri, deps.issuer);
  const isFreshSignIn = fresh !== undefined;
  const facts = { request, isFirstParty, isUnprovenApp, session, isFreshSignIn, consent, now };
  const step = nextStep(facts);
  if (step === 'sign_in' || session === undefined) {
    return step === 'login_required'
      ? refusal(deps, request, new AuthorizationError(step, 'The member must sign in.'))
      : signInPage(deps, { ...way, request: { ...request, askedFor: askedFor(facts) } });
  }
  if (request.isForSecurityPage) return { kind: 'redirect', to: request.redirectUri };
  if (step === 'grant') return codeFor(deps, { ...way, session });
  if (step === 'consent') return consentPage(deps, { ...way, session });
  return refusal(deps, request, new AuthorizationError(step, 'The member must sign in or consent.'));
}

async function codeFor(
  deps: AuthDeps,
  {
    request,
    client,
    browser,
    session,
    consented,
  }: Way & { readonly session: SessionRow; readonly consented?: Consented },
): Promise<Step> {
  if (request.isForSecurityPage) return { kind: 'redirect', to: request.redirectUri };
  const { isFirstParty } = client;
  const { origin } = browser;
  const code = await issueCode(deps, { request, isFirstParty, session, consented, origin });
  if (code === 'consent_missing') return consentPage(deps, { request, client, browser, session });
  const { redirectUri, state } = request;
  return { kind: 'redirect', to: withParameters(redirectUri, { code: code.text, state, iss: deps.issuer }) };
}

export async function signInPage(
  deps: AuthDeps,
  { request, client, browser, refused }: Way & { readonly refused?: string },
): Promise<Step> {
  const { cookies, ...page } = await pageOf(deps, { request, client, browser });
  const username = refused ?? request.loginHint;
  const passkeyOptions = requestOptions(relyingPartyOf(deps.issuer), page.challenge);
  const facts = { username, isRefused: refused !== undefined, askedFor: request.askedFor, passkeyOptions };
  return { kind: 'sign_in', ...page, ...facts, ...cookies };
}

interface HalfWay extends Way {
  readonly browser: Browser & { readonly secret: string };
  readonly half: HalfProvenMember;
  readonly expiresAtMillis: number;
  readonly isRefused?: boolean;
}

/** Asks for the code. The password is proven in its hidden field, so that no row waits for the code (ADR 41). */
export async function codePage(deps: AuthDeps, way: HalfWay): Promise<Step> {
  const { request, browser, half, expiresAtMillis, isRefused = false } = way;
  const { cookies, ...page } = await pageOf(deps, way);
  const { userKey, userId, userEpoch } = half;
  const sealed = sealRequest(deps, {
    ...{ kind: 'code', request, expiresAtMillis, browser: browserHash(deps.vault, browser.secret) },
    ...{ userKey: String(userKey), userId, userEpoch },
  });
  return { kind: 'code', ...page, request: sealed, isRefused, ...cookies };
}

async function consentPage(
  deps: AuthDeps,
  {
    session,
    isRefused = false,
    ...way
  }: Way & { readonly session: SessionRow; readonly isRefused?: boolean },
): Promise<Step> {
  const { cookies, ...page } = await pageOf(deps, { ...way, signedInAs: session.sessionId });
  const { institutionId, scopes } = way.request;
  const accounts = asksForAccounts(scopes)
    ? await deps.database.read(institutionId, (db) => selectConsentable(db, session.userKey))
    : undefined;
  const asked = { scopes, accounts, asksToPay: asksToPay(scopes), isRefused };
  return { kind: 'consent', ...page, ...asked, ...cookies };
}

export async function pageOf(
  deps: AuthDeps,
  { request, client, browser, signedInAs }: Way & { readonly signedInAs?: string },
): Promise<PageFacts & { readonly challenge: string; readonly cookies: { readonly cookies?: NewCookies } }> {
  const { institutionId, redirectUri } = request;
  const { clientId } = client;
  const brand = await deps.database.directory((db) => findBrand(db, { institutionId, clientId }));
  const secret = browser.secret ?? newSecret();
  const expiresAtMillis = deps.clock().getTime() + pageMillis;
  const bound = browserHash(deps.vault, secret);
  const challenge = newSecret();
  const page = { kind: 'page', request, expiresAtMillis, browser: bound, signedInAs, challenge } as const;
  return {
    institutionId,
    brand,
    clientName: client.name,
    redirectUri,
    challenge,
    request: sealRequest(deps, page),
    cookies: browser.secret === undefined ? { cookies: { browser: secret } } : {},
  };
}

/** Throws UnsafeRequestError for a page of another browser, and for one that waited too long. */
export function openPage(deps: AuthDeps, text: string, { secret, recognize }: Browser) {
  const { vault, clock } = deps;
  const page = openRequest(deps, text, { kind: 'page', nowMillis: clock().getTime() });
  if (page === undefined || secret === undefined || page.browser !== browserHash(vault, secret)) {
    throw new UnsafeRequestError('This page has expired. Go back to the app and start again.');
  }
  const { institutionId, clientId } = page.request;
  recognize?.({ institutionId, clientId });
  return { ...page, secret };
}

function openPushed(deps: AuthDeps, clientId: string, uri: string): AuthorizationRequest {
  const text = uri.startsWith(pushedPrefix) ? uri.slice(pushedPrefix.length) : '';
  const pushed: SealedRequest | undefined = openRequest(deps, text, {
    kind: 'pushed',
    nowMillis: deps.clock().getTime(),
  });
  if (pushed?.request.clientId !== clientId) {
    throw new UnsafeRequestError('The request has expired. Go back to the app and start again.');
  }
  return pushed.request;
}

/** A refusal with the address that is certain, before there is a request. */
interface Refused {
  readonly kind: 'refused';
  readonly redirectUri: string;
  readonly state: string | undefined;
  readonly error: AuthorizationError;
}

/** Throws UnsafeRequestError. */
function readRequest(
  { issuer }: AuthDeps,
  client: AuthorizingClient,
  institutionId: InstitutionId,
  parameters: Parameters,
): AuthorizationRequest | Refused {
  const redirectUri = parameterOf(parameters, 'redirect_uri');
  if (redirectUri === undefined || !isRegistered(redirectUri, client.redirectUris, issuer)) {
    throw new UnsafeRequestError('The app names an address that is not registered for it.');
  }
  const parameter = (name: string) => parameterOf(parameters, name);
  try {
    if (parameters.repeated.length > 0) {
      throw new AuthorizationError('invalid_request', 'A parameter appears more than once.');
    }
    const { clientId } = client;
    const named = { requestId: randomUUID(), institutionId, clientId, redirectUri };
    return { ...named, ...readAuthorizationRequest(parameter, client) };
  } catch (error) {
    if (!(error instanceof AuthorizationError)) throw error;
    return { kind: 'refused', redirectUri, state: parameter('state')?.slice(0, 2_048), error };
  }
}

/** Undefined also for an empty parameter (RFC 6749 section 3.1). Throws UnsafeRequestError if client or address came twice. */
export function parameterOf({ values, repeated }: Parameters, name: string): string | undefined {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  const decides = name === 'client_id' || name === 'redirect_uri' || name === 'request_uri';
  if (decides && repeated.includes(name)) throw new UnsafeRequestError(`${name} appears more than once.`);
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string' && !value.includes('\0')) return value;
  throw new UnsafeRequestError(`${name} must be a text without NUL.`);
}

export async function activeClient(
  { database }: AuthDeps,
  institutionId: InstitutionId,
  clientId: string,
): Promise<AuthorizingClient> {
  const client = await database.read(institutionId, (db) => selectAuthorizingClient(db, clientId));
  if (client?.active) return client;
  throw new UnsafeRequestError('The app is not known here.');
}

function refusal(
  deps: AuthDeps,
  { redirectUri, state }: Pick<AuthorizationRequest, 'redirectUri' | 'state'>,
  error: AuthorizationError,
): Step {
  return withIssuer(deps, { kind: 'refused', redirectUri, state, error });
}

/** With `iss`, so that an app of several servers tells their responses apart (RFC 9207). */
function withIssuer({ issuer }: AuthDeps, { redirectUri, state, error }: Refused): Step {
  const response = { error: error.error, error_description: error.message, state, iss: issuer };
  return { kind: 'redirect', to: withParameters(redirectUri, response) };
}
