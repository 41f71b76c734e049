import { createHash } from 'node:crypto';
import { findUser } from '../../members/index.ts';
import type { AuthenticatedClient } from '../clients/client-authentication.ts';
import type { AuthDeps } from '../deps.ts';
import type { GrantLimits, TokenHolder } from '../grants/grant.ts';
import { clockSkewMillis } from '../keys/key-states.ts';
import { OAuthError } from '../tokens/oauth-error.ts';
import { InvalidAssertionError } from './invalid-assertion-error.ts';
import { clockSkewSeconds } from './jwt.ts';
import type { ProviderKind } from './provider.ts';
import type { ActiveProvider } from './providers.ts';
import { recordAssertion } from './replay-cache.ts';

/** An assertion serves one prompt login. RFC 7523 section 3 and RFC 7522 section 3 allow refusing a far expiry. */
export const furthestExpirySeconds = 600;
/** RFC 7521 section 4.1: tokens for an assertion are short-lived; the client brings another assertion for another token. */
const longestTokenSeconds = 1_800;

/** A verified assertion. */
export interface Assertion {
  /** `jti`, or the ID of a SAML assertion. Accepted once. */
  readonly id: string;
  /** The member's id, of the type that the provider was registered with. */
  readonly subject: string;
  readonly expiresAtMillis: number;
  /** The end of the member's session at the provider. */
  readonly sessionEndsAtMillis?: number;
  /** The time at which the member proved their identity to the provider, in seconds. */
  readonly authTime?: number | undefined;
  /** How they proved it, as the provider says (RFC 8176); empty if it does not. */
  readonly methods: readonly string[];
}

/** How one kind of assertion is read. */
export interface AssertionFormat {
  readonly kind: ProviderKind;
  /** Reads the unverified issuer and audiences. Throws InvalidAssertionError. */
  readonly peek: (text: string) => { readonly issuer: string; readonly audiences: readonly string[] };
  /** Throws InvalidAssertionError. */
  readonly verify: (deps: AuthDeps, provider: ActiveProvider, text: string, now: Date) => Promise<Assertion>;
}

/**
 * RFC 7521 section 4.1: accepts an assertion of a provider that the client's institution registered. OAuthError `invalid_grant`
 * states the reason, except that unknown, locked and inactive users get the same one.
 */
export async function acceptAssertion(
  deps: AuthDeps,
  { institutionId }: AuthenticatedClient,
  { format, text }: { readonly format: AssertionFormat; readonly text: string },
): Promise<TokenHolder & GrantLimits> {
  let subject: string | undefined;
  try {
    const now = deps.clock();
    const { issuer, audiences } = format.peek(text);
    const provider = await deps.providers.findByIssuer(issuer, audiences);
    if (provider?.institutionId !== institutionId || provider.kind !== format.kind) {
      throw new InvalidAssertionError('Its issuer is not registered here for its audience.');
    }
    subject = provider.providerId;
    const assertion = await format.verify(deps, provider, text, now);
    return await holderOf(deps, provider, { assertion, now });
  } catch (error) {
    if (!(error instanceof InvalidAssertionError)) throw error;
    const facts = { ...error.facts, ...(subject !== undefined && { subject }) };
    throw new OAuthError('invalid_grant', `The assertion is not accepted. ${error.message}`, facts);
  }
}

async function holderOf(
  deps: AuthDeps,
  provider: ActiveProvider,
  { assertion, now }: { readonly assertion: Assertion; readonly now: Date },
): Promise<TokenHolder & GrantLimits> {
  const { institutionId, providerId, userIdType, scopes, generation } = provider;
  const sessionMillis = (assertion.sessionEndsAtMillis ?? Number.POSITIVE_INFINITY) - now.getTime();
  const lifetimeSeconds = Math.min(longestTokenSeconds, Math.floor(sessionMillis / 1000));
  if (lifetimeSeconds <= 0) throw new InvalidAssertionError('The session that it speaks of has ended.');
  const user = await deps.database.read(institutionId, (db) => findUser(db, assertion.subject, userIdType));
  if (user?.mayAct !== true) {
    const facts = user ? { reason: 'locked_or_inactive', userId: user.userId } : { reason: 'unknown_user' };
    throw new InvalidAssertionError('It names nobody who may log in.', { facts });
  }

  const used = {
    providerId,
    idHash: createHash('sha256').update(assertion.id).digest(),
    // A process with a late clock accepts the assertion longer.
    expiresAt: new Date(assertion.expiresAtMillis + clockSkewSeconds * 1000 + clockSkewMillis),
  };
  const isFirst = await deps.database.write(institutionId, (db) => recordAssertion(db, used));
  if (!isFirst) {
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
    methods: assertion.methods,
    provider: { providerId, generation },
    maxScopes: scopes,
    maxLifetimeSeconds: lifetimeSeconds,
  };
}
