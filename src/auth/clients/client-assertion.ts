import { createPublicKey, type webcrypto } from 'node:crypto';
import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyResult,
  jwtVerify,
  type ProtectedHeaderParameters,
} from 'jose';
import { isCompactJwt } from '../tokens/compact-jwt.ts';
import { OAuthError } from '../tokens/oauth-error.ts';
import { tokenEndpointOf } from '../tokens/token-endpoint.ts';
import type { ClientKey } from './client-keys.ts';

export const clientAssertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** An assertion is made for one request: what lives longer could be kept and played by somebody else. */
const longestMillis = 5 * 60_000;
/** How far a client's clock may be ahead of ours. */
const clockToleranceSeconds = 30;
/** RFC 7519 section 5.1: a JWT that says that it is something else is no client assertion. */
const types: readonly unknown[] = [undefined, 'JWT', 'jwt', 'client-authentication+jwt'];
/** Ed25519 has two names (RFC 8037, RFC 9864). */
const spellings = { ES256: ['ES256'], RS256: ['RS256'], PS256: ['PS256'], EdDSA: ['EdDSA', 'Ed25519'] };
export const assertionAlgorithms: readonly string[] = Object.values(spellings).flat();

/** Whose assertion it says it is (RFC 7523 section 3, `sub`), before anything of it is believed. */
export function assertedClientId(assertion: string): string {
  const { sub } = decode(assertion).payload;
  if (typeof sub !== 'string' || sub.includes('\0')) throw wrongAssertion('sub must be the client id');
  return sub;
}

/**
 * RFC 7523 section 3, stricter where attacks have shown why: the audience is our issuer as a single string and nothing
 * else (draft-ietf-oauth-rfc7523bis; for a client that is set to, the token endpoint too), the algorithm is the registered key's whatever the header says, `jti` is needed and `exp` at most five minutes
 * ahead. Answers the id by which it must not be seen again before `expiresAt`. OAuthError `invalid_client`.
 */
export async function verifyClientAssertion(
  assertion: string,
  expected: {
    readonly clientId: string;
    readonly keys: readonly ClientKey[];
    readonly issuer: string;
    /** For a library that cannot name the issuer. */
    readonly allowsTokenEndpointAudience: boolean;
    readonly now: Date;
  },
): Promise<{ readonly id: string; readonly expiresAt: Date }> {
  const { clientId, keys, issuer, allowsTokenEndpointAudience, now } = expected;
  const { header } = decode(assertion);
  if (!types.includes(header.typ)) throw wrongAssertion('typ is of something else');
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
  // Compared as numbers: beyond some date a Date is none, and neither before nor after another.
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

/** More than one is tried only where the header names none. */
async function verifyWithOneOf(
  keys: readonly ClientKey[],
  assertion: string,
  now: Date,
): Promise<JWTVerifyResult<JWTPayload>> {
  for (const { publicJwk, algorithm } of keys) {
    const key = createPublicKey({ key: publicJwk as webcrypto.JsonWebKey, format: 'jwk' });
    try {
      return await jwtVerify(assertion, key, {
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
  throw new OAuthError('invalid_client', 'The client or its assertion is wrong.');
}

function decode(assertion: string): { header: ProtectedHeaderParameters; payload: JWTPayload } {
  if (!isCompactJwt(assertion)) throw wrongAssertion('it is no signed JWT');
  try {
    return { header: decodeProtectedHeader(assertion), payload: decodeJwt(assertion) };
  } catch {
    throw wrongAssertion('it is no signed JWT');
  }
}

/** Tells what is wrong with what the caller wrote, never what we know. */
function wrongAssertion(reason: string): OAuthError {
  return new OAuthError('invalid_client', `The client assertion is refused: ${reason}.`);
}
