// Signs the member in on the institution's page: authorization code with PKCE (RFC 7636, docs/sign-in.md). Tokens stay in the memory of
// this page. A reload or an expired token asks the page again with `prompt=none`, which succeeds while the member's session lasts.
import { signal } from '@preact/signals';
import { Sharedraft } from '@sharedraft/client';
import { replaceAddress } from '../common/router.ts';
import { SignedOutError } from '../common/signed-out-error.ts';
import { factOf } from './facts.ts';

/** The address is /app/<client id>. */
const clientId = location.pathname.split('/')[2] ?? '';
const redirectUri = `${location.origin}/app/${clientId}`;
const scope =
  'openid profile account:read transfer:read transfer:write alertPref:read alertPref:write alertHist:read institution-users:read institution-users:write';
/** A token is renewed this long before it expires. */
const earlyMillis = 30_000;
/** The attempt outlives the visit of the sign-in page, in this tab only. */
const attemptKey = 'sign-in';

interface Attempt {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** The screen to return to. */
  readonly screen: string;
}

interface Tokens {
  readonly accessToken: string;
  readonly idToken: string;
  readonly goodUntil: number;
  readonly userId: string;
}

interface Member {
  readonly userId: string;
  /** The first name. */
  readonly name: string;
}

const anonymous = new Sharedraft({ baseUrl: location.origin });
let tokens: Tokens | undefined;
let renewal: Promise<Tokens> | undefined;

/** Undefined until the first attempt has ended, null without a session. */
export const member = signal<Member | null | undefined>(undefined);

/** The access token, renewed if it is about to expire. Throws SignedOutError. */
export async function accessToken(): Promise<string> {
  if (tokens !== undefined && Date.now() < tokens.goodUntil) return tokens.accessToken;
  renewal ??= renew().finally(() => {
    renewal = undefined;
  });
  return (await renewal).accessToken;
}

/** The service refused the token. The next call renews it. */
export function forgetToken(): void {
  tokens = undefined;
}

/** Completes a sign-in that has just returned from the institution's page, or else looks for a session. */
export async function start(): Promise<void> {
  const returned = new URLSearchParams(location.search);
  const attempt = takeAttempt();
  replaceAddress(`${redirectUri}${attempt?.screen ?? location.hash}`);
  try {
    if (attempt !== undefined && returned.has('state')) tokens = await finish(attempt, returned);
    const bank = new Sharedraft({ baseUrl: location.origin, auth: accessToken });
    const { sub, given_name = '' } = await bank.tokens.userInfo();
    member.value = { userId: sub, name: given_name };
  } catch (error) {
    member.value = null;
    if (!(error instanceof SignedOutError)) throw error;
  }
}

/** Leaves this page for the institution's. */
export async function signIn(): Promise<void> {
  const attempt = newAttempt();
  sessionStorage.setItem(attemptKey, JSON.stringify(attempt));
  location.assign(await authorizationUrl(attempt));
}

/**
 * The same for a sign-in that is as recent and as strong as the service wants (RFC 9470). The problem's members are the parameters of
 * the request.
 */
export async function signInAgain({
  max_age,
  acr_values,
  step_up,
}: {
  readonly [member: string]: unknown;
}): Promise<void> {
  const attempt = newAttempt();
  sessionStorage.setItem(attemptKey, JSON.stringify(attempt));
  const strength = typeof acr_values === 'string' ? { acr_values } : {};
  const act = typeof step_up === 'string' ? { step_up } : {};
  location.assign(await authorizationUrl(attempt, { max_age: String(max_age ?? 0), ...strength, ...act }));
}

/** Ends the member's session at the institution, and this token. */
export async function signOut(): Promise<void> {
  const ended = tokens;
  tokens = undefined;
  if (ended !== undefined) {
    // OpenID Connect RP-Initiated Logout 1.0, by POST: an ID token in an address would remain in logs.
    await fetch('/auth/v2/logout', {
      method: 'POST',
      body: new URLSearchParams({ id_token_hint: ended.idToken }),
    });
    await anonymous.tokens.revoke({ token: ended.accessToken, client_id: clientId });
  }
  // The next person at this device starts with an empty page.
  location.replace(redirectUri);
}

/** The response to `prompt=none` is a redirect to this app, whose address holds the code. No page shows. */
async function renew(): Promise<Tokens> {
  const attempt = newAttempt();
  const response = await fetch(await authorizationUrl(attempt, { prompt: 'none' }));
  const next = await finish(attempt, new URL(response.url).searchParams);
  // Another member signed in at another tab. Nothing of the one before may remain on the screen.
  if (member.value && member.value.userId !== next.userId) location.replace(redirectUri);
  tokens = next;
  return next;
}

async function authorizationUrl(
  attempt: Attempt,
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope,
    state: attempt.state,
    nonce: attempt.nonce,
    code_challenge: await sha256(attempt.verifier),
    code_challenge_method: 'S256',
    ...more,
  };
  return `/auth/v2/authorize?${new URLSearchParams(parameters)}`;
}

async function finish(attempt: Attempt, returned: URLSearchParams): Promise<Tokens> {
  if (returned.get('state') !== attempt.state || returned.get('iss') !== factOf('issuer')) {
    throw new SignedOutError('The response belongs to another sign-in.');
  }
  const code = returned.get('code');
  if (code === null)
    throw new SignedOutError(returned.get('error_description') ?? 'The member must sign in.');
  const issued = await anonymous.tokens.issue({
    grant_type: 'authorization_code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code,
    code_verifier: attempt.verifier,
  });
  const { access_token, id_token = '', expires_in } = issued;
  const { sub, aud, nonce } = claimsOf(id_token);
  if (aud !== clientId || nonce !== attempt.nonce)
    throw new SignedOutError('The ID token belongs to another sign-in.');
  return {
    accessToken: access_token,
    idToken: id_token,
    goodUntil: Date.now() + expires_in * 1000 - earlyMillis,
    userId: sub,
  };
}

/** The ID token came from the token endpoint itself, so its signature needs no check (OpenID Connect Core 1.0, section 3.1.3.7). */
function claimsOf(idToken: string): {
  readonly sub: string;
  readonly aud: string;
  readonly name?: string;
  readonly nonce?: string;
} {
  const [, payload = ''] = idToken.split('.');
  const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (one) =>
    one.charCodeAt(0),
  );
  return JSON.parse(new TextDecoder().decode(bytes));
}

function newAttempt(): Attempt {
  return { state: randomText(), nonce: randomText(), verifier: randomText(), screen: location.hash };
}

function takeAttempt(): Attempt | undefined {
  const text = sessionStorage.getItem(attemptKey);
  sessionStorage.removeItem(attemptKey);
  return text === null ? undefined : JSON.parse(text);
}

function randomText(): string {
  return base64Url(crypto.getRandomValues(new Uint8Array(32)));
}

async function sha256(text: string): Promise<string> {
  return base64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
