import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyResult,
  jwtVerify,
  type ProtectedHeaderParameters,
} from 'jose';
import { toKeyObject } from '../keys/public-keys.ts';
import { isCompactJwt } from '../tokens/compact-jwt.ts';
import { OAuthError } from '../tokens/oauth-error.ts';
import { tokenEndpointOf } from '../tokens/token-endpoint.ts';
import type { ClientRow } from './authentication-queries.ts';
import type { ClientKey } from './client-keys.ts';

export const clientAssertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** An assertion is made for one request. A longer-lived one could be stolen and replayed. */
const longestMillis = 5 * 60_000;
/** A client's clock may be ahead of ours by this much. */
const clockToleranceSeconds = 30;
/** RFC 7519 section 5.1. Any other `typ` marks a JWT for another use. */
const types: readonly unknown[] = [undefined, 'JWT', 'jwt', 'client-authentication+jwt'];
/** Ed25519 has two names (RFC 8037, RFC 9864). */
const spellings = { ES256: ['ES256'], RS256: ['RS256'], PS256: ['PS256'], EdDSA: ['EdDSA', 'Ed25519'] };
export const assertionAlgorithms: readonly string[] = Object.values(spellings).flat();

/** The unverified client id of an assertion: `sub` (RFC 7523 section 3). */
export function assertedClientId(assertion: string): string {
  const { sub } = decode(assertion).payload;
  if (typeof sub !== 'string' || sub.includes('\0')) throw wrongAssertion('sub must be the client id');
  return sub;
}

/** The refusal of an assertion whose signature nobody has verified: the same for a known client and an unknown one. */
export function refusalOfAssertion(assertion: string): OAuthError {
  return faultOfHeader(decode(assertion).header) ?? unverified();
}

/**
 * RFC 7523 section 3, with stricter rules against known attacks (draft-ietf-oauth-rfc7523bis): the audience is our issuer as a single
 * string; a client may be set to use the token endpoint too. The algorithm is that of the registered key. `jti` is required, and `exp` is at
 * most five minutes ahead. Returns the id, which must not be accepted again before `expiresAt`. OAuthError `invalid_client`.
 */
export async function verifyClientAssertion(
  assertion: string,
  {
    client: { clientId, keys, allowsTokenEndpointAudience },
    issuer,
    now,
  }: {
    readonly client: Pick<ClientRow, 'clientId' | 'keys' | 'allowsTokenEndpointAudience'>;
    readonly issuer: string;
    readonly now: Date;
  },
): Promise<{ readonly id: string; readonly expiresAt: Date }> {
  const { header } = decode(assertion);
  const fault = faultOfHeader(header);
  if (fault !== undefined) throw fault;
  const { payload } = await verifyWithOneOf(keysFor(header, keys), assertion, now);
  if (payload.iss !== clientId || payload.sub !== clientId) {
    throw wrongAssertion('iss and sub must both be the client id');
  }
  const isTokenEndpoint = allowsTokenEndpointAudience && payload.aud === tokenEndpointOf(issuer);
  if (payload.aud !== issuer && !isTokenEndpoint) {
    throw wrongAssertion(
      `aud must be the issuer ${issuer} as a single string, not the token endpoint and not a list`,
    );
  }
  // Compared as numbers: a Date beyond the year 275760 is invalid and compares as neither before nor after.
  const expiresAtMillis = Number(payload.exp) * 1000;
  if (!(expiresAtMillis > now.getTime())) throw wrongAssertion('it has expired');
  if (expiresAtMillis > now.getTime() + longestMillis) {
    throw wrongAssertion('exp must be at most five minutes ahead');
  }
  if (typeof payload.jti !== 'string' || payload.jti === '') throw wrongAssertion('jti is needed');
  return { id: payload.jti, expiresAt: new Date(expiresAtMillis) };
}

function keysFor(header: ProtectedHeaderParameters, keys: readonly ClientKey[]): ClientKey[] {
  return keys.filter(
    ({ kid, algorithm }) =>
      (header.kid === undefined || header.kid === kid) && spellings[algorithm].includes(header.alg ?? ''),
  );
}

/** Tries several keys only if the header names none. */
async function verifyWithOneOf(
  keys: readonly ClientKey[],
  assertion: string,
  now: Date,
): Promise<JWTVerifyResult<JWTPayload>> {
  for (const { publicJwk, algorithm } of keys) {
    try {
      return await jwtVerify(assertion, toKeyObject(publicJwk), {
        algorithms: spellings[algorithm],
        requiredClaims: ['iss', 'sub', 'aud', 'exp', 'jti'],
        clockTolerance: clockToleranceSeconds,
        currentDate: now,
      });
    } catch (error) {
      if (error instanceof errors.JWSSignatureVerificationFailed) continue;
      if (error instanceof errors.JOSEError) throw wrongAssertion(error.message);
      throw error;
    }
  }
  throw unverified();
}

function faultOfHeader({ typ, crit }: ProtectedHeaderParameters): OAuthError | undefined {
  if (!types.includes(typ)) return wrongAssertion('typ is of something else');
  return crit === undefined ? undefined : wrongAssertion('crit is not supported');
}

function unverified(): OAuthError {
  return new OAuthError('invalid_client', 'The client or its assertion is wrong.');
}

function decode(assertion: string): { header: ProtectedHeaderParameters; payload: JWTPayload } {
  if (!isCompactJwt(assertion)) throw wrongAssertion('it is not a signed JWT');
  try {
    return { header: decodeProtectedHeader(assertion), payload: decodeJwt(assertion) };
  } catch {
    throw wrongAssertion('it is not a signed JWT');
  }
}

/** `reason` names a fault of the request, never a fact of the registration. */
function wrongAssertion(reason: string): OAuthError {
  return new OAuthError('invalid_client', `The client assertion is refused: ${reason}.`);
}
