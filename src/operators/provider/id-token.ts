import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import { isReadable } from '../../shared/text/readable-text.ts';
import { ProviderError } from './provider-connection.ts';

/** The tolerated difference between the provider's clock and ours. */
const clockSkewSeconds = 60;
/** An ID token is made for this sign-in, so an older one was kept by somebody. */
const greatestAgeSeconds = 600;
/** Signatures by a published key only: `none` and a MAC with the client secret are refused (RFC 8725 section 3.1). */
const algorithms = [
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
  'EdDSA',
  'Ed25519',
];
const mostGroups = 1_000;

/** A person of whom the provider vouches. */
export interface VouchedPerson {
  readonly subject: string;
  /** Names for the audit, the preferred one first. */
  readonly names: readonly string[];
  readonly groups: readonly string[];
  readonly authenticatedAt: Date;
}

/** Verifies the ID token of a code (OpenID Connect Core 1.0 section 3.1.3.7). Throws ProviderError. */
export async function verifyIdToken(
  idToken: string,
  keys: JSONWebKeySet,
  expected: {
    readonly issuer: string;
    readonly clientId: string;
    readonly nonce: string;
    readonly maxAgeSeconds: number;
    readonly groupClaim: string;
    readonly now: Date;
  },
): Promise<VouchedPerson> {
  const { issuer, clientId, nonce, maxAgeSeconds, groupClaim, now } = expected;
  const { payload } = await jwtVerify(idToken, createLocalJWKSet(keys), {
    ...{ issuer, audience: clientId, algorithms, currentDate: now },
    ...{ clockTolerance: clockSkewSeconds, maxTokenAge: greatestAgeSeconds },
    requiredClaims: ['sub', 'exp', 'iat', 'nonce'],
  }).catch((cause) => {
    throw new ProviderError(reasonOf(cause), { cause });
  });
  // Step 3: an audience beside us could use the token too.
  const audiences = Array.isArray(payload.aud) ? payload.aud : [payload.aud];
  if (audiences.length !== 1 || (payload.azp !== undefined && payload.azp !== clientId))
    throw new ProviderError('id_token_aud');
  if (payload.nonce !== nonce) throw new ProviderError('id_token_nonce');
  const { sub: subject = '' } = payload;
  if (!/^[^\p{Cc}]{1,255}$/u.test(subject)) throw new ProviderError('id_token_sub');
  const groups = groupsOf(payload, groupClaim);
  return {
    subject,
    names: namesOf(payload, subject),
    groups,
    authenticatedAt: authTimeOf(payload, maxAgeSeconds, now),
  };
}

/** Section 2: `auth_time` is required, since every request has `max_age`. */
function authTimeOf({ auth_time: claimed }: JWTPayload, maxAgeSeconds: number, now: Date): Date {
  const nowSeconds = Math.floor(now.getTime() / 1000);
  const isWithin =
    typeof claimed === 'number' &&
    claimed <= nowSeconds + clockSkewSeconds &&
    claimed >= nowSeconds - maxAgeSeconds - clockSkewSeconds;
  if (!isWithin) throw new ProviderError('id_token_auth_time');
  // A fast clock of the provider must not make the proof look newer.
  return new Date(Math.min(Math.floor(claimed), nowSeconds) * 1000);
}

function groupsOf(payload: JWTPayload, claim: string): string[] {
  const value = Object.hasOwn(payload, claim) ? payload[claim] : undefined;
  const groups = Array.isArray(value) ? value : [value];
  return groups.slice(0, mostGroups).filter((group) => typeof group === 'string');
}

/** The plain name, and one that tells apart two persons of this name. */
function namesOf({ name, email, preferred_username: username }: JWTPayload, subject: string): string[] {
  const [id = subject] = [username, email].filter((one) => typeof one === 'string' && one !== '') as string[];
  const plain = typeof name === 'string' && name.trim() !== '' ? name.trim() : id;
  return [plain, `${plain} (${id})`, `${plain} (${subject})`].filter(
    (one) => one.length <= 128 && isReadable(one),
  );
}

function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'id_token_exp';
  if (error instanceof errors.JWTClaimValidationFailed) return `id_token_${error.claim}`;
  if (error instanceof errors.JOSEError || error instanceof TypeError) return 'id_token_signature';
  throw error;
}
