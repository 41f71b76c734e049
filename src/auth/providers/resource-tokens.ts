import type { Clock } from '../../storage/index.ts';
import { parseScope, type Scope } from '../tokens/scopes.ts';
import { VerifiedTokenCache } from '../tokens/verified-token-cache.ts';
import { InvalidAssertionError } from './invalid-assertion-error.ts';
import { authTimeOf, clockSkewSeconds, peekJwt, textClaim, verifyJwt } from './jwt.ts';
import type { ActiveProvider, Providers } from './providers.ts';

/** What a provider's access token says of who bears it. */
export interface ResourceToken {
  readonly provider: ActiveProvider;
  /** Whom it names, in the way that the provider was registered with. */
  readonly subject: string;
  /** Those it was given, as far as the provider may give them. */
  readonly scopes: readonly Scope[];
  readonly issuedAtMillis: number;
  /** When the member proved there who they are, in seconds. */
  readonly authTime: number | undefined;
}

interface Verified extends Omit<ResourceToken, 'provider'> {
  readonly institutionId: ActiveProvider['institutionId'];
  readonly providerId: string;
  readonly generation: number;
  readonly expiresAtMillis: number;
}

/** A token that opens accounts for more than a day was made by mistake. */
const furthestExpirySeconds = 86_400;
/** RFC 9068 section 2.2. */
const requiredClaims = ['sub', 'client_id', 'iat', 'jti'];
/** Of another `typ`, whose profile may name the client in its own way or not at all. */
const leastClaims = ['sub', 'iat'];

/**
 * Verifies access tokens that registered providers issued (RFC 9068 section 4). Verified ones are remembered until they
 * expire, and no longer than their provider stays as it was: that is known within a second.
 */
export class ResourceTokens {
  readonly #providers: Providers;
  readonly #clock: Clock;
  readonly #verified = new VerifiedTokenCache<Verified>();

  constructor(providers: Providers, clock: Clock) {
    this.#providers = providers;
    this.#clock = clock;
  }

  /** InvalidAssertionError. */
  async verify(token: string): Promise<ResourceToken> {
    const now = this.#clock();
    const name = VerifiedTokenCache.nameOf(token);
    const remembered = this.#verified.get(name);
    if (remembered !== undefined && remembered.expiresAtMillis > now.getTime()) {
      const { institutionId, providerId, generation, ...token } = remembered;
      const provider = await this.#providers.find(institutionId, providerId);
      if (provider?.generation === generation) return { provider, ...token };
    }

    const { issuer, audiences } = peekJwt(token);
    const provider = await this.#providers.findByIssuer(issuer, audiences);
    if (provider?.resourceTokens !== true) {
      throw new InvalidAssertionError('Tokens of its issuer are not accepted for its audience.');
    }
    const type = provider.tokenType.toLowerCase();
    const payload = await verifyJwt(provider, token, {
      types: [type],
      requiredClaims: type === 'at+jwt' ? requiredClaims : leastClaims,
      now,
      furthestExpirySeconds,
    });
    const issuedAtMillis = Number(payload.iat) * 1000;
    if (issuedAtMillis <= provider.tokensEndedAt.getTime()) {
      throw new InvalidAssertionError(
        'It was issued before its provider was last registered or switched off or on.',
      );
    }
    const subject = textClaim(payload, provider.subjectFrom);
    // Without the claim it was given nothing (RFC 9068 section 2.2.3).
    const given = payload.scope === undefined ? [] : textClaim(payload, 'scope').split(' ').map(parseScope);
    const scopes = provider.scopes.filter((scope) => given.includes(scope));
    const { institutionId, providerId, generation } = provider;
    const expiresAtMillis = (payload.exp + clockSkewSeconds) * 1000;
    const authTime = authTimeOf(payload, now);
    const verified = { subject, scopes, issuedAtMillis, authTime, expiresAtMillis };
    this.#verified.set(name, { institutionId, providerId, generation, ...verified });
    return { provider, ...verified };
  }
}
