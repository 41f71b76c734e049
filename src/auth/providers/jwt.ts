import { decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { isCompactJwt } from '../tokens/compact-jwt.ts';
import { InvalidAssertionError } from './invalid-assertion-error.ts';
import type { ActiveProvider } from './providers.ts';

/** The tolerated difference between a provider's clock and ours. */
export const clockSkewSeconds = 60;

const maxCharacters = 16_384;
const maxAudiences = 10;

/** Reads the unverified issuer and audiences of a JWT. Throws InvalidAssertionError. */
export function peekJwt(jwt: string): { readonly issuer: string; readonly audiences: readonly string[] } {
  if (jwt.length > maxCharacters || !isCompactJwt(jwt)) throw malformed();
  let payload: JWTPayload;
  try {
    payload = decodeJwt(jwt);
  } catch (cause) {
    throw malformed(cause);
  }
  const { iss: issuer, aud } = payload;
  const audiences = Array.isArray(aud) ? aud : [aud];
  const named = audiences.every(isName) && audiences.length >= 1 && audiences.length <= maxAudiences;
  if (!named || !isName(issuer))
    throw new InvalidAssertionError('The claims iss and aud are missing or malformed.');
  return { issuer, audiences };
}

/** The unverified issuer of a token, if it is a JWT. */
export function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

/**
 * Verifies a JWT of the provider: its signature, its registered audience, its times. `kid` selects one of the provider's registered
 * keys (or the only one), which determines the algorithm. A header with `crit` is rejected. Throws InvalidAssertionError.
 */
export async function verifyJwt(
  provider: ActiveProvider,
  jwt: string,
  rules: {
    readonly types: readonly (string | undefined)[];
    readonly requiredClaims: readonly string[];
    readonly now: Date;
    readonly furthestExpirySeconds: number;
  },
): Promise<JWTPayload & { readonly exp: number }> {
  const { types, requiredClaims, now, furthestExpirySeconds } = rules;
  const key: JWTVerifyGetKey = ({ alg, kid, crit }) => {
    const { verificationKeys: keys } = provider;
    const found =
      kid === undefined && keys.length === 1
        ? keys[0]
        : keys.find((one) => kid !== undefined && one.kid === kid);
    if (crit !== undefined || found === undefined || found.alg !== alg) throw new errors.JWKSNoMatchingKey();
    return found.publicKey;
  };
  const { payload, protectedHeader } = await jwtVerify(jwt, key, {
    issuer: provider.issuer,
    audience: provider.audience,
    requiredClaims: [...requiredClaims, 'exp'],
    clockTolerance: clockSkewSeconds,
    currentDate: now,
  }).catch((error) => {
    throw explain(error);
  });

  if (!types.includes(shortType(protectedHeader.typ)))
    throw new InvalidAssertionError('The typ of the JWT is not accepted.');
  const { exp = 0, iat } = payload;
  const latest = Math.floor(now.getTime() / 1000) + clockSkewSeconds;
  if (exp > latest + furthestExpirySeconds)
    throw new InvalidAssertionError('The claim exp is too far ahead.');
  if (iat !== undefined && !(typeof iat === 'number' && iat <= latest)) throw wrongClaim('iat');
  return { ...payload, exp };
}

/** A claim that must be a non-empty string. Throws InvalidAssertionError. */
export function textClaim(payload: JWTPayload, name: string): string {
  const value = Object.hasOwn(payload, name) ? payload[name] : undefined;
  if (typeof value !== 'string' || value === '' || value.includes('\0')) throw wrongClaim(name);
  return value;
}

/**
 * The time at which the member proved their identity (OpenID Connect Core 1.0 section 2), in seconds. Undefined if the provider does
 * not state it; `iat` does not replace it.
 */
export function authTimeOf({ auth_time: claimed }: JWTPayload, now: Date): number | undefined {
  const nowSeconds = Math.floor(now.getTime() / 1000);
  if (typeof claimed !== 'number' || claimed > nowSeconds + clockSkewSeconds) return undefined;
  // A fast clock of the provider must not make the proof look newer.
  return Math.min(Math.floor(claimed), nowSeconds);
}

/** RFC 8176 section 2. */
const registeredMethods: readonly string[] =
  'face fpt geo hwk iris kba mca mfa otp pin pwd rba retina sc sms swk tel user vbm wia'.split(' ');

/** How the member proved their identity: the registered names in the claim `amr`, each once. */
export function methodsOf({ amr }: JWTPayload): readonly string[] {
  const named = Array.isArray(amr) ? new Set<unknown>(amr) : new Set();
  return registeredMethods.filter((method) => named.has(method));
}

/** RFC 7515 section 4.1.9: `application/` is optional, and case is ignored. */
function shortType(typ: unknown): string | undefined {
  if (typ !== undefined && typeof typ !== 'string') throw malformed();
  return typ?.toLowerCase().replace(/^application\//, '');
}

function isName(value: unknown): value is string {
  // PostgreSQL stores no NUL, so no registered name has one.
  return typeof value === 'string' && value !== '' && !value.includes('\0');
}

function explain(error: unknown): unknown {
  if (error instanceof errors.JWTExpired)
    return new InvalidAssertionError('It has expired.', { cause: error });
  if (error instanceof errors.JWTClaimValidationFailed) {
    const early = error.claim === 'nbf' && error.reason === 'check_failed';
    return early
      ? new InvalidAssertionError('It is not valid yet.', { cause: error })
      : wrongClaim(error.claim, error);
  }
  if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey) {
    return new InvalidAssertionError('The signature is not by a key that the provider registered.', {
      cause: error,
    });
  }
  if (error instanceof errors.JOSEError || error instanceof TypeError) return malformed(error);
  return error;
}

function wrongClaim(claim: string, cause?: unknown): InvalidAssertionError {
  return new InvalidAssertionError(`The claim ${claim} is missing or wrong.`, { cause });
}

function malformed(cause?: unknown): InvalidAssertionError {
  return new InvalidAssertionError('It is not a JWT that is accepted here.', { cause });
}
