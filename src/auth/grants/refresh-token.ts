import type { AuthenticatedClient } from '../clients/client-authentication.ts';
import {
  endRefreshFamily,
  findRefreshFamily,
  renewRefreshFamily,
  standingOf,
} from '../refresh/refresh-families.ts';
import type { RefreshFamilyRow } from '../refresh/refresh-queries.ts';
import { nextRefreshToken } from '../refresh/refresh-token.ts';
import { OAuthError, type RefusalFacts } from '../tokens/oauth-error.ts';
import { grantScopes, memberScopes, type Scope, scopesIn } from '../tokens/scopes.ts';
import type { Grant } from './grant.ts';

/** Of many at once one rotates; the others look again, and find what that one did. */
const looks = 3;

/**
 * RFC 6749 section 6, rotating as RFC 9700 section 4.14.2 has it. A spent token that comes back ends its family with
 * all access tokens of it, but for a retry within ten seconds, which gets the same successor again.
 */
export const refreshToken: Grant = {
  grantType: 'refresh_token',
  authorize: async (deps, client, request) => {
    const { institutionId } = client;
    const text = request.require('refresh_token');
    for (let look = 0; look < looks; look += 1) {
      const found = await findRefreshFamily(deps, institutionId, text);
      if (found === undefined || found.family.clientId !== client.clientId) throw wrongToken();
      const { token, family } = found;
      const standing = standingOf(deps, found);
      const { userId } = family.user;
      if (standing === 'reuse') {
        await endRefreshFamily(deps, institutionId, family, 'refresh_token_reused', request.origin);
        throw wrongToken({ reason: 'refresh_token_reused', userId });
      }
      if (standing === 'refuse') throw wrongToken({ userId });
      const scopes = scopesOf(family, client, request.text('scope'));
      const next =
        standing === 'repeat'
          ? nextRefreshToken(deps.vault, token)
          : await renewRefreshFamily(deps, institutionId, token);
      if (next !== undefined) return { ...bearerOf(family), scopes, refreshToken: next.text };
    }
    throw wrongToken();
  },
};

/** A family begins with a password, and only with one; refreshing proves nothing anew. */
function bearerOf({ familyId, user, createdAt }: RefreshFamilyRow) {
  const { userId, userKey, tokenEpoch: userEpoch, customerIds } = user;
  const authTime = Math.floor(createdAt.getTime() / 1000);
  return { use: 'member', familyId, userId, userKey, userEpoch, customerIds, authTime } as const;
}

/** Those of the login that the client still has and a member may carry; fewer where fewer are asked for, never more. */
function scopesOf(family: RefreshFamilyRow, client: AuthenticatedClient, asked: string | undefined): Scope[] {
  const remaining = scopesIn(family.scopes).filter(
    (scope) => client.scopes.includes(scope) && memberScopes.includes(scope),
  );
  if (!remaining.includes('offline_access')) throw wrongToken();
  return asked === undefined ? remaining : grantScopes(asked, remaining);
}

/** Why is nobody's business who holds one. */
function wrongToken(facts: RefusalFacts = {}): OAuthError {
  return new OAuthError('invalid_grant', 'The refresh token is wrong, spent, expired or revoked.', facts);
}
