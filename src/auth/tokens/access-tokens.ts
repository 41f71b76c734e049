import { randomUUID, sign } from 'node:crypto';
import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { PresentedToken } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { Clock, InstitutionId } from '../../storage/index.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';
import { isCompactJwt } from './compact-jwt.ts';
import { parseScope, type Scope } from './scopes.ts';
import { VerifiedTokenCache } from './verified-token-cache.ts';

/** What an access token says of who bears it (RFC 9068, and claims of our own). */
export interface TokenSubject extends Omit<PresentedToken, 'tokenId' | 'isRefused'> {
  readonly scopes: readonly Scope[];
  /** The client, or the user of a member token: stands in `token_use`, never inferred from `sub`. */
  readonly use: 'client' | 'member';
  /** When the user proved who they are, in seconds (RFC 9068 section 2.2.1); undefined where no one said. */
  readonly authTime?: number | undefined;
  /** For the reader's convenience; authority is read from the database at each request, never from here. */
  readonly customerIds?: readonly string[];
}

/** A token whose signature and time are good. Whether it still stands is for the database to say. */
export interface VerifiedToken extends TokenSubject, PresentedToken {
  /** The keys of a member token's user, noted when the database first told them; they never change. */
  user?: { readonly userKey: bigint; readonly personKey: bigint };
  /** In seconds, as the claims have it. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

export interface AccessTokenOptions {
  readonly keys: SigningKeys;
  readonly clock: Clock;
  /** Issuer and audience both: PUBLIC_URL. */
  readonly issuer: string;
}

interface Verified {
  readonly kid: string;
  readonly token: VerifiedToken;
}

/**
 * Signs and verifies access tokens: JWTs per RFC 9068, ES256. Verified ones are remembered by their SHA-256 until they
 * expire, which makes the second use of a token twenty times cheaper.
 */
export class AccessTokens {
  readonly #options: AccessTokenOptions;
  readonly #verified = new VerifiedTokenCache<Verified>();

  constructor(options: AccessTokenOptions) {
    this.#options = options;
  }

  async issue(subject: TokenSubject, lifetimeSeconds: number): Promise<string> {
    const { keys, clock, issuer } = this.#options;
    const key = await keys.signer();
    const issuedAt = Math.floor(clock().getTime() / 1000);
    const input = [
      { alg: 'ES256', typ: 'at+jwt', kid: key.kid },
      {
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
        ...(subject.familyId !== undefined && { sid: subject.familyId }),
        ...(subject.customerIds && { customer_ids: subject.customerIds }),
        ...(subject.provider && {
          provider_id: subject.provider.providerId,
          provider_generation: subject.provider.generation,
        }),
      },
    ]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    // node:crypto rather than jose: a third of the time (0.06 against 0.19 ms).
    const signature = sign('sha256', Buffer.from(input), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
    return `${input}.${signature.toString('base64url')}`;
  }

  /** At once what `verify` would answer, for a token that was verified before; undefined where it has to look. */
  recall(token: string): VerifiedToken | undefined {
    const { keys, clock } = this.#options;
    const remembered = this.#verified.get(VerifiedTokenCache.keyOf(token));
    if (remembered === undefined || remembered.token.expiresAt * 1000 <= clock().getTime()) return undefined;
    return keys.holds(remembered.kid) ? remembered.token : undefined;
  }

  /** Problem `invalid_token` for anything but a living token of ours. */
  async verify(token: string): Promise<VerifiedToken> {
    const nowMillis = this.#options.clock().getTime();
    const name = VerifiedTokenCache.keyOf(token);
    const remembered = this.#verified.get(name);
    if (remembered !== undefined && remembered.token.expiresAt * 1000 > nowMillis) {
      // What was verified stands only as long as its key does.
      if ((await this.#options.keys.find(remembered.kid)) === undefined) throw invalidToken();
      return remembered.token;
    }

    const verified = await this.#check(token, new Date(nowMillis));
    this.#verified.set(name, verified);
    return verified.token;
  }

  async #check(token: string, currentDate: Date): Promise<Verified> {
    if (!isCompactJwt(token)) throw invalidToken();
    try {
      const { payload, protectedHeader } = await jwtVerify(token, this.#findKey, {
        algorithms: ['ES256'],
        typ: 'at+jwt',
        issuer: this.#options.issuer,
        audience: this.#options.issuer,
        requiredClaims: ['sub', 'client_id', 'scope', 'iat', 'exp', 'jti', 'institution_id', 'token_use'],
        currentDate,
      });
      const { kid = '' } = protectedHeader;
      return { kid, token: toVerified(payload) };
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

function toVerified(payload: JWTPayload): VerifiedToken {
  const { sub, jti, iat, exp, client_id: clientId, scope, institution_id: institutionId, sid } = payload;
  // Tokens of the release before say nothing of epochs, which began with 0.
  const { token_use: use, client_epoch: clientEpoch = 0, user_epoch: userEpoch = 0 } = payload;
  const { provider_id: providerId, provider_generation: generation, auth_time: authTime } = payload;
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
    (authTime !== undefined && typeof authTime !== 'number') ||
    (providerId !== undefined && typeof providerId !== 'string')
  ) {
    throw new errors.JWTClaimValidationFailed('malformed claims', payload);
  }
  return {
    tokenId: jti,
    issuedAt: iat,
    expiresAt: exp,
    institutionId: institutionId as InstitutionId,
    clientId,
    clientEpoch,
    scopes: scope.split(' ').flatMap((name) => parseScope(name) ?? []),
    use,
    ...(use === 'member' && { userId: sub, userEpoch }),
    ...(sid !== undefined && { familyId: sid }),
    ...(authTime !== undefined && { authTime }),
    ...(providerId !== undefined && { provider: { providerId, generation: Number(generation) } }),
  };
}
