import { hash } from 'node:crypto';
import type { ValidatedMemory } from '../../memory/index.ts';
import type { Clock } from '../../storage/index.ts';
import { parseScope, type Scope } from '../tokens/scopes.ts';
import { InvalidAssertionError } from './invalid-assertion-error.ts';
import { authTimeOf, clockSkewSeconds, peekJwt, textClaim, verifyJwt } from './jwt.ts';
import type { ActiveProvider, Providers } from './providers.ts';

/** A verified access token of a provider. */
export interface ResourceToken {
  readonly provider: ActiveProvider;
  /** The member's id, of the type that the provider was registered with. */
  readonly subject: string;
  /** The token's scopes that the provider may grant. */
  readonly scopes: readonly Scope[];
  readonly issuedAtMillis: number;
  /** The time at which the member proved their identity to the provider, in seconds. */
  readonly authTime: number | undefined;
}

type Verified = Omit<ResourceToken, 'provider'> &
  Pick<ActiveProvider, 'institutionId' | 'providerId' | 'generation'>;

/** The measured size of a token's claims in memory. */
const bytesOfClaims = 600;

/** A longer lifetime is taken for a mistake. */
const furthestExpirySeconds = 86_400;
/** RFC 9068 section 2.2. */
const requiredClaims = ['sub', 'client_id', 'iat', 'jti'];
/** For another `typ`: tokens of other profiles may name the client by another claim or not at all. */
const leastClaims = ['sub', 'iat'];

/**
 * Verifies access tokens of registered providers (RFC 9068 section 4). The claims of a token are remembered until it expires or
 * its provider changes. Its user is read at each use.
 */
export class ResourceTokens {
  readonly #providers: Providers;
  readonly #clock: Clock;
  readonly #memory: ValidatedMemory;

  constructor(providers: Providers, clock: Clock, memory: ValidatedMemory) {
    this.#providers = providers;
    this.#clock = clock;
    this.#memory = memory;
  }

  /** Throws InvalidAssertionError. */
  async verify(text: string): Promise<ResourceToken> {
    const now = this.#clock();
    const key = `asserted ${hash('sha256', text, 'base64')}`;
    const known = this.#memory.find<Verified>(key);
    if (known !== undefined) {
      const { institutionId, providerId, generation, ...token } = known.value;
      const provider = await this.#providers.find(institutionId, providerId);
      if (provider?.generation === generation) return { provider, ...token };
    }
    const { issuer, audiences } = peekJwt(text);
    const provider = await this.#providers.findByIssuer(issuer, audiences);
    if (provider?.resourceTokens !== true) {
      throw new InvalidAssertionError('Tokens of its issuer are not accepted for its audience.');
    }
    const { expiresAtMillis, ...token } = await read(text, provider, now);
    const { institutionId, providerId, generation } = provider;
    const basis = this.#memory.begin(institutionId);
    basis.endAt(expiresAtMillis);
    this.#memory.keep(key, { institutionId, providerId, generation, ...token }, bytesOfClaims, basis);
    return { provider, ...token };
  }
}

async function read(text: string, provider: ActiveProvider, now: Date) {
  const type = provider.tokenType.toLowerCase();
  const payload = await verifyJwt(provider, text, {
    types: [type],
    requiredClaims: type === 'at+jwt' ? requiredClaims : leastClaims,
    now,
    furthestExpirySeconds,
  });
  // Bound to a key that the provider knows (RFC 7800); as a bearer token it would be worth more than it is.
  if (payload.cnf !== undefined) throw new InvalidAssertionError('It is bound to a key.');
  const issuedAtMillis = Number(payload.iat) * 1000;
  if (issuedAtMillis <= provider.tokensEndedAt.getTime()) {
    throw new InvalidAssertionError(
      'It was issued before its provider was last registered or switched off or on.',
    );
  }
  // A token without the claim has no scopes (RFC 9068 section 2.2.3).
  const stated = payload.scope === undefined ? [] : textClaim(payload, 'scope').split(' ').map(parseScope);
  return {
    subject: textClaim(payload, provider.subjectFrom),
    scopes: provider.scopes.filter((scope) => stated.includes(scope)),
    issuedAtMillis,
    authTime: authTimeOf(payload, now),
    expiresAtMillis: (payload.exp + clockSkewSeconds) * 1000,
  };
}
