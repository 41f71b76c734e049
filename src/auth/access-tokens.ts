import { createHash, randomUUID, sign } from 'node:crypto';
import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { Problem } from '../problem.ts';
import type { Clock, InstitutionId } from '../storage/index.ts';
import { parseScope, type Scope } from './scopes.ts';
import type { SigningKeys } from './signing-keys.ts';

/** What an access token says of who bears it (RFC 9068, and claims of our own). */
export interface TokenSubject {
  readonly institutionId: InstitutionId;
  readonly clientId: string;
  readonly scopes: readonly Scope[];
  /** The client, or the user of a member token: stands in `token_use`, never inferred from `sub`. */
  readonly use: 'client' | 'member';
  /** The user's id with `member`. */
  readonly userId?: string;
  /** For the reader's convenience; authority is read from the database at each request, never from here. */
  readonly customerIds?: readonly string[];
  /** Who asserted the user, and in which generation: the token dies with it. */
  readonly provider?: { readonly providerId: string; readonly generation: number };
}

export interface AccessTokenOptions {
  readonly keys: SigningKeys;
  readonly clock: Clock;
  /** Issuer and audience both: PUBLIC_URL. */
  readonly issuer: string;
}

interface Verified {
  readonly kid: string;
  readonly subject: TokenSubject;
  readonly expiresAtMillis: number;
}

const maxRemembered = 20_000;

/**
 * Signs and verifies access tokens: JWTs per RFC 9068, ES256. Verified ones are remembered by their SHA-256 until they
 * expire, which makes the second use of a token twenty times cheaper.
 */
export class AccessTokens {
  readonly #options: AccessTokenOptions;
  readonly #verified = new Map<string, Verified>();

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

  /** Problem `invalid_token` for anything but a living token of ours. */
  async verify(token: string): Promise<TokenSubject> {
    const nowMillis = this.#options.clock().getTime();
    const name = createHash('sha256').update(token).digest('base64');
    const remembered = this.#verified.get(name);
    if (remembered !== undefined && remembered.expiresAtMillis > nowMillis) {
      // What was verified stands only as long as its key does.
      if ((await this.#options.keys.find(remembered.kid)) === undefined) throw invalidToken();
      return remembered.subject;
    }

    const verified = await this.#check(token, new Date(nowMillis));
    if (this.#verified.size >= maxRemembered) {
      // The oldest goes; a map keeps the order in which its keys came.
      for (const oldest of this.#verified.keys()) {
        this.#verified.delete(oldest);
        break;
      }
    }
    this.#verified.set(name, verified);
    return verified.subject;
  }

  async #check(token: string, currentDate: Date): Promise<Verified> {
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
      return { kid, subject: toSubject(payload), expiresAtMillis: Number(payload.exp) * 1000 };
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

function toSubject(payload: JWTPayload): TokenSubject {
  const { sub, client_id: clientId, scope, institution_id: institutionId, token_use: use } = payload;
  const { provider_id: providerId, provider_generation: generation } = payload;
  const shapely =
    typeof clientId === 'string' &&
    typeof scope === 'string' &&
    typeof institutionId === 'number' &&
    (use === 'client' || use === 'member');
  if (!shapely || sub === undefined) throw new errors.JWTClaimValidationFailed('malformed claims', payload);
  return {
    institutionId: institutionId as InstitutionId,
    clientId,
    scopes: scope.split(' ').flatMap((name) => parseScope(name) ?? []),
    use,
    ...(use === 'member' && { userId: sub }),
    ...(typeof providerId === 'string' && { provider: { providerId, generation: Number(generation) } }),
  };
}
