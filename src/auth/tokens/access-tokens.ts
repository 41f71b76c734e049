import { randomUUID } from 'node:crypto';
import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { type Acr, isAcr, type PresentedToken } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { Clock, InstitutionId } from '../../storage/index.ts';
import { type Confirmation, cnfOf, readCnf } from '../binding/confirmation.ts';
import { signJwt } from '../keys/sign-jwt.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';
import { isCompactJwt } from './compact-jwt.ts';
import { parseScope, type Scope } from './scopes.ts';

/** The client or user of an access token, and its rights (RFC 9068, with claims of our own). */
export interface TokenSubject extends Omit<PresentedToken, 'tokenId' | 'isRefused'> {
  readonly scopes: readonly Scope[];
  /** The claim `token_use`; never inferred from `sub`. */
  readonly use: 'client' | 'member';
  /** The time at which the user proved their identity, in seconds (RFC 9068 section 2.2.1); undefined if unknown. */
  readonly authTime?: number | undefined;
  /** How the user proved it: the claim `amr` (RFC 8176); empty if unknown. */
  readonly methods?: readonly string[];
  /** The class of these methods (RFC 9470 section 6); undefined for a password alone, and for an asserted member. */
  readonly acr?: Acr | undefined;
  /** The key or certificate that the token is bound to; undefined for a bearer token. */
  readonly confirmation?: Confirmation | undefined;
  /** Informative. Authority is read from the database at each request. */
  readonly customerIds?: readonly string[];
}

/** A token with a valid signature that has not expired. The database decides whether it is still active. */
export interface VerifiedToken extends TokenSubject, PresentedToken {
  /** The key that signed it. */
  readonly kid: string;
  /** In seconds. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

export interface AccessTokenOptions {
  readonly keys: SigningKeys;
  readonly clock: Clock;
  /** Both issuer and audience. */
  readonly issuer: string;
  /** The only institution whose tokens are verified; undefined: those of all. */
  readonly institutionId?: InstitutionId;
}

/** Signs and verifies access tokens: JWTs after RFC 9068, ES256. */
export class AccessTokens {
  readonly #options: AccessTokenOptions;

  constructor(options: AccessTokenOptions) {
    this.#options = options;
  }

  async issue(subject: TokenSubject, lifetimeSeconds: number): Promise<string> {
    const { keys, clock, issuer } = this.#options;
    const issuedAt = Math.floor(clock().getTime() / 1000);
    return signJwt(keys, {
      typ: 'at+jwt',
      claims: {
        iss: issuer,
        sub: subject.userId ?? subject.clientId,
        aud: issuer,
        client_id: subject.clientId,
        scope: subject.scopes.join(' '),
        iat: issuedAt,
        exp: issuedAt + lifetimeSeconds,
        jti: randomUUID(),
        institution_id: subject.institutionId,
        token_use: subject.use,
        client_epoch: subject.clientEpoch,
        ...(subject.userEpoch !== undefined && { user_epoch: subject.userEpoch }),
        ...(subject.authTime !== undefined && { auth_time: subject.authTime }),
        ...(subject.acr !== undefined && { acr: subject.acr }),
        ...(subject.methods?.length && { amr: subject.methods }),
        ...(subject.familyId !== undefined && { sid: subject.familyId }),
        ...(subject.consentId !== undefined && { consent_id: subject.consentId }),
        ...(subject.confirmation !== undefined && { cnf: cnfOf(subject.confirmation) }),
        ...(subject.customerIds && { customer_ids: subject.customerIds }),
        ...(subject.provider && {
          provider_id: subject.provider.providerId,
          provider_generation: subject.provider.generation,
        }),
      },
    });
  }

  /** Problem `invalid_token`. */
  async verify(token: string): Promise<VerifiedToken> {
    if (!isCompactJwt(token)) throw invalidToken('it is no JWT');
    try {
      const { payload, protectedHeader } = await jwtVerify(token, this.#findKey, {
        algorithms: ['ES256'],
        typ: 'at+jwt',
        issuer: this.#options.issuer,
        audience: this.#options.issuer,
        requiredClaims: ['sub', 'client_id', 'scope', 'iat', 'exp', 'jti', 'institution_id', 'token_use'],
        currentDate: this.#options.clock(),
      });
      const verified = toVerified(payload, protectedHeader.kid ?? '');
      if (!this.#options.keys.signsFor(verified.kid, verified.institutionId))
        throw new errors.JWKSNoMatchingKey();
      const { institutionId: only = verified.institutionId } = this.#options;
      // Of an institution that had this host name before.
      if (verified.institutionId !== only)
        throw new errors.JWTClaimValidationFailed('of another institution', payload);
      return verified;
    } catch (cause) {
      if (cause instanceof errors.JOSEError) throw invalidToken(cause);
      throw cause;
    }
  }

  readonly #findKey: JWTVerifyGetKey = async ({ kid }) => {
    const key = typeof kid === 'string' ? await this.#options.keys.find(kid) : undefined;
    if (key === undefined) throw new errors.JWKSNoMatchingKey();
    return key;
  };
}

export function invalidToken(cause?: unknown): Problem {
  return new Problem('invalid_token', 'The access token is malformed, expired, or not valid here.', {
    cause,
  });
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function toVerified(payload: JWTPayload, kid: string): VerifiedToken {
  const { sub, jti, iat, exp, client_id: clientId, scope, institution_id: institutionId, sid } = payload;
  // Epochs begin with 0.
  const { token_use: use, client_epoch: clientEpoch = 0, user_epoch: userEpoch = 0 } = payload;
  const { cnf } = payload;
  const confirmation = readCnf(cnf);
  const { provider_id: providerId, provider_generation: generation, auth_time: authTime } = payload;
  const { consent_id: consentId, acr, amr } = payload;
  if (
    sub === undefined ||
    jti === undefined ||
    iat === undefined ||
    exp === undefined ||
    typeof clientId !== 'string' ||
    typeof scope !== 'string' ||
    typeof institutionId !== 'number' ||
    (use !== 'client' && use !== 'member') ||
    typeof clientEpoch !== 'number' ||
    typeof userEpoch !== 'number' ||
    (sid !== undefined && typeof sid !== 'string') ||
    (consentId !== undefined && typeof consentId !== 'string') ||
    (authTime !== undefined && typeof authTime !== 'number') ||
    (amr !== undefined && !isTexts(amr)) ||
    (providerId !== undefined && typeof providerId !== 'string') ||
    (cnf !== undefined && confirmation === undefined)
  ) {
    throw new errors.JWTClaimValidationFailed('malformed claims', payload);
  }
  return {
    tokenId: jti,
    kid,
    issuedAt: iat,
    expiresAt: exp,
    institutionId: institutionId as InstitutionId,
    clientId,
    clientEpoch,
    scopes: scope.split(' ').flatMap((name) => parseScope(name) ?? []),
    use,
    ...(use === 'member' && { userId: sub, userEpoch }),
    ...(sid !== undefined && { familyId: sid }),
    ...(consentId !== undefined && { consentId }),
    ...(authTime !== undefined && { authTime }),
    ...(isAcr(acr) && { acr }),
    ...(amr !== undefined && { methods: amr }),
    ...(confirmation !== undefined && { confirmation }),
    ...(providerId !== undefined && { provider: { providerId, generation: Number(generation) } }),
  };
}
