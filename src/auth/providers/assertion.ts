import { createHash } from 'node:crypto';
import { findUser } from '../../members/index.ts';
import type { AuthenticatedClient } from '../clients/client-authentication.ts';
import type { AuthDeps } from '../deps.ts';
import type { Bearer, Bounds } from '../grants/grant.ts';
import { clockSkewMillis } from '../keys/key-states.ts';
import { OAuthError } from '../tokens/oauth-error.ts';
import { InvalidAssertionError } from './invalid-assertion-error.ts';
import { clockSkewSeconds } from './jwt.ts';
import type { ProviderKind } from './provider.ts';
import type { ActiveProvider } from './providers.ts';
import { recordAssertion } from './queries.ts';

/** An assertion is for one login, soon: RFC 7523 section 3 and RFC 7522 section 3 let us refuse a far expiry. */
export const furthestExpirySeconds = 600;
/** RFC 7521 section 4.1: tokens for an assertion are reasonably short; who wants another brings another assertion. */
const longestTokenSeconds = 1_800;

/** What a verified assertion says. */
export interface Assertion {
  /** `jti`, or the ID of a SAML assertion: good once. */
  readonly id: string;
  /** Whom it names, in the way that its provider was registered with. */
  readonly subject: string;
  readonly expiresAtMillis: number;
  /** When the provider ends the session that it speaks of. */
  readonly sessionEndsAtMillis?: number;
  /** When the member proved there who they are, in seconds. */
  readonly authTime?: number | undefined;
}

/** How each kind of assertion is read: where it claims to come from, and what it says once that is proven. */
export interface AssertionFormat {
  readonly kind: ProviderKind;
  /** InvalidAssertionError. */
  readonly peek: (text: string) => { readonly issuer: string; readonly audiences: readonly string[] };
  /** InvalidAssertionError. */
  readonly verify: (deps: AuthDeps, provider: ActiveProvider, text: string, now: Date) => Promise<Assertion>;
}

/**
 * RFC 7521 section 4.1: a member's token for an assertion of a provider that the client's institution registered.
 * OAuthError `invalid_grant` says why not; unknown, locked and inactive users are told alike.
 */
export async function acceptAssertion(
  deps: AuthDeps,
  { institutionId }: AuthenticatedClient,
  format: AssertionFormat,
  text: string,
): Promise<Bearer & Bounds> {
  try {
    const now = deps.clock();
    const { issuer, audiences } = format.peek(text);
    const provider = await deps.providers.findByIssuer(issuer, audiences);
    if (provider?.institutionId !== institutionId || provider.kind !== format.kind) {
      throw new InvalidAssertionError('Its issuer is not registered here for its audience.');
    }
    const assertion = await format.verify(deps, provider, text, now);
    return await bearerOf(deps, provider, assertion, now);
  } catch (error) {
    if (!(error instanceof InvalidAssertionError)) throw error;
    throw new OAuthError('invalid_grant', `The assertion is not accepted. ${error.message}`, error.facts);
  }
}

async function bearerOf(
  deps: AuthDeps,
  provider: ActiveProvider,
  assertion: Assertion,
  now: Date,
): Promise<Bearer & Bounds> {
  const { institutionId, providerId, userIdType, scopes, generation } = provider;
  const sessionMillis = (assertion.sessionEndsAtMillis ?? Number.POSITIVE_INFINITY) - now.getTime();
  const lifetimeSeconds = Math.min(longestTokenSeconds, Math.floor(sessionMillis / 1000));
  if (lifetimeSeconds <= 0) throw new InvalidAssertionError('The session that it speaks of has ended.');
  const user = await deps.database.read(institutionId, (db) => findUser(db, assertion.subject, userIdType));
  if (user?.mayAct !== true) {
    const facts = user ? { reason: 'locked_or_inactive', userId: user.userId } : { reason: 'unknown_user' };
    throw new InvalidAssertionError('It names nobody who may log in.', { facts });
  }

  const spent = {
    providerId,
    idHash: createHash('sha256').update(assertion.id).digest(),
    // Another process, whose clock is behind ours, believes the assertion longer.
    expiresAt: new Date(assertion.expiresAtMillis + clockSkewSeconds * 1000 + clockSkewMillis),
  };
  const first = await deps.database.write(institutionId, (db) => recordAssertion(db, institutionId, spent));
  if (!first) {
    const facts = { reason: 'assertion_replayed', userId: user.userId };
    throw new InvalidAssertionError('It was used already.', { facts });
  }
  return {
    use: 'member',
    userId: user.userId,
    userKey: user.userKey,
    userEpoch: user.tokenEpoch,
    customerIds: user.customerIds,
    authTime: assertion.authTime,
    provider: { providerId, generation },
    maxScopes: scopes,
    maxLifetimeSeconds: lifetimeSeconds,
  };
}
