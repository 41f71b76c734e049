import { type Confirmation, keyThumbprintOf } from '../binding/confirmation.ts';
import type { AuthenticatedClient } from '../clients/client-authentication.ts';
import {
  endRefreshFamily,
  findRefreshFamily,
  keepRefreshToken,
  refreshDecision,
  rotateRefreshToken,
} from '../refresh/refresh-families.ts';
import type { RefreshFamilyRow } from '../refresh/refresh-queries.ts';
import { nextRefreshToken } from '../refresh/refresh-token.ts';
import { OAuthError, type RefusalFacts } from '../tokens/oauth-error.ts';
import { grantScopes, memberScopes, type Scope, scopesIn } from '../tokens/scopes.ts';
import type { Grant } from './grant.ts';

/** One of several simultaneous refreshes rotates the token. The others read the family again and repeat its response. */
const maxAttempts = 3;

/**
 * RFC 6749 section 6, with rotation (RFC 9700 section 4.14.2). An exchanged token that comes back ends its family and all
 * its access tokens, except a retry within ten seconds, which gets the same successor. A client of the FAPI 2.0 profile keeps its token, since
 * it proves its key at each refresh (FAPI 2.0 Security Profile section 5.3.2.1).
 */
export const refreshToken: Grant = {
  grantType: 'refresh_token',
  authorize: async (deps, client, request, confirmation) => {
    const { institutionId } = client;
    const text = request.require('refresh_token');
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const found = await findRefreshFamily(deps, institutionId, text);
      if (found === undefined || found.family.clientId !== client.clientId) throw wrongToken();
      const { token, family } = found;
      const { userId } = family;
      // Without the key a stolen token ends nothing.
      if (!fitsBinding(family, client, confirmation)) throw wrongToken({ userId, reason: 'wrong_key' });
      const decision = refreshDecision(deps, found);
      if (decision === 'reuse') {
        const reason = 'refresh_token_reused';
        await endRefreshFamily(deps, institutionId, { family, reason, origin: request.origin });
        throw wrongToken({ reason, userId });
      }
      if (decision === 'refuse') throw wrongToken({ userId });
      const scopes = scopesOf(family, client, request.text('scope'));
      const next =
        decision === 'repeat'
          ? nextRefreshToken(deps, token)
          : client.securityProfile === 'FAPI2'
            ? await keepRefreshToken(deps, institutionId, token)
            : await rotateRefreshToken(deps, institutionId, token);
      if (next !== undefined) return { ...holderOf(family), scopes, refreshToken: next.text };
    }
    throw wrongToken();
  },
};

/**
 * RFC 9449 section 5: a public client proves the key of the login. Any other client has proven its own secret, key or certificate, and may come
 * with a new one, so that it can replace the old one (RFC 8705 section 6.3); it never gets bearer tokens of such a login.
 */
function fitsBinding(
  family: RefreshFamilyRow,
  { isPublic }: AuthenticatedClient,
  confirmation: Confirmation | undefined,
): boolean {
  if (family.keyThumbprint === null && family.certificateThumbprint === null) return true;
  return isPublic ? keyThumbprintOf(confirmation) === family.keyThumbprint : confirmation !== undefined;
}

/** A refresh proves nothing anew. */
function holderOf(family: RefreshFamilyRow) {
  const { familyId, userId, userKey, userEpoch, customerIds, authenticatedAt, consentId } = family;
  const authTime = Math.floor(authenticatedAt.getTime() / 1000);
  const holder = { familyId, userId, userKey, userEpoch, customerIds, authTime };
  const consent = consentId === null ? {} : { consentId };
  const proven = { methods: family.methods ?? [], acr: family.acr ?? undefined };
  return { use: 'member', ...holder, ...consent, ...proven } as const;
}

/** The login's scopes that client and consent still have and a member may carry, or fewer on request. */
function scopesOf(
  family: RefreshFamilyRow,
  client: AuthenticatedClient,
  requested: string | undefined,
): Scope[] {
  const remaining = scopesIn(family.scopes).filter(
    (scope) =>
      client.scopes.includes(scope) &&
      memberScopes.includes(scope) &&
      (family.consentScopes?.includes(scope) ?? true),
  );
  if (!remaining.includes('offline_access')) throw wrongToken();
  return requested === undefined ? remaining : grantScopes(requested, remaining);
}

/** The response does not state the reason. */
function wrongToken(facts: RefusalFacts = {}): OAuthError {
  return new OAuthError('invalid_grant', 'The refresh token is wrong, spent, expired or revoked.', facts);
}
