import { hash } from 'node:crypto';
import { errors, jwtVerify } from 'jose';
import { type Acr, multiFactor } from '../../institutions/index.ts';
import type { AuthDeps } from '../deps.ts';
import { signJwt } from '../keys/sign-jwt.ts';
import { clientSessionId } from '../sessions/client-session-id.ts';

const lifetimeSeconds = 10 * 60;
/** Distinct from `at+jwt`, so that no ID token passes as an access token (RFC 9068 section 4). */
const typ = 'JWT';

interface SignedIn {
  readonly userId: string;
  readonly authTime?: number | undefined;
  readonly nonce: string | null;
  readonly sessionId: string;
  readonly methods: readonly string[];
  /** The token that is issued beside it. */
  readonly accessToken: string;
}

/** Tells the app who signed in (OpenID Connect Core 1.0 section 2). */
export function issueIdToken(
  { keys, clock, issuer, vault }: AuthDeps,
  { clientId }: { readonly clientId: string },
  { userId, authTime, nonce, sessionId, methods, accessToken }: SignedIn,
): Promise<string> {
  const issuedAt = Math.floor(clock().getTime() / 1000);
  const acr = acrOf(methods);
  const claims = {
    ...{ iss: issuer, sub: userId, aud: clientId, iat: issuedAt, exp: issuedAt + lifetimeSeconds },
    ...(authTime !== undefined && { auth_time: authTime }),
    ...(nonce !== null && { nonce }),
    ...(acr !== undefined && { acr }),
    amr: methods,
    sid: clientSessionId(vault, { sessionId, clientId }),
    at_hash: hashOf(accessToken),
  };
  return signJwt(keys, { typ, claims });
}

/** Libraries compare it, so that no other access token is put beside the ID token (section 3.1.3.6): half of the hash that ES256 names. */
function hashOf(accessToken: string): string {
  return hash('sha256', accessToken, 'buffer').subarray(0, 16).toString('base64url');
}

/**
 * `phr`: no other site can use the proof (OpenID Connect Extended Authentication Profile ACR Values 1.0). A code can be phished with its
 * password, so both reach a class of their own. A password alone reaches none.
 */
export function acrOf(methods: readonly string[]): Acr | undefined {
  if (methods.includes('hwk') || methods.includes('swk')) return 'phr';
  return methods.includes('mfa') ? multiFactor : undefined;
}

/** The member and the client of an ID token of ours, also of an expired one: it only hints at the member who leaves. */
export async function readIdTokenHint(
  { keys, issuer }: AuthDeps,
  text: string,
): Promise<{ readonly userId: string; readonly clientId: string; readonly kid: string } | undefined> {
  const findKey = async ({ kid = '' }) => {
    const key = await keys.find(kid);
    if (key === undefined) throw new errors.JWKSNoMatchingKey();
    return key;
  };
  try {
    const { payload, protectedHeader } = await jwtVerify(text, findKey, {
      ...{ algorithms: ['ES256'], typ, issuer, requiredClaims: ['sub', 'aud'] },
      // Any moment within its life.
      currentDate: new Date(0),
    });
    const { sub, aud } = payload;
    const { kid = '' } = protectedHeader;
    return sub !== undefined && typeof aud === 'string' ? { userId: sub, clientId: aud, kid } : undefined;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}
