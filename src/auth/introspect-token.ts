import { authenticateClient } from './client-authentication.ts';
import type { AuthDeps } from './deps.ts';
import { livingToken, verifiedToken } from './living-token.ts';
import { findRefreshFamily, standingOf } from './refresh-families.ts';
import { type RawTokenRequest, TokenRequest } from './token-request.ts';

/** RFC 7662 section 2.2; times in seconds. */
export type Introspection =
  | { readonly active: false }
  | {
      readonly active: true;
      readonly scope: string;
      readonly client_id: string;
      /** An access token's; a refresh token has none. */
      readonly token_type?: 'Bearer';
      readonly exp: number;
      readonly iat: number;
      readonly sub: string;
      readonly aud: string;
      readonly iss: string;
      readonly jti?: string;
      readonly institution_id: number;
      readonly token_use: 'client' | 'member';
    };

const inactive: Introspection = { active: false };

/**
 * What a token is worth this moment. Each client may ask of the tokens of its own institution; whatever else it
 * presents is told to be inactive, and no more. OAuthError.
 */
export async function introspectToken(deps: AuthDeps, raw: RawTokenRequest): Promise<Introspection> {
  const request = new TokenRequest(raw);
  const { institutionId } = await authenticateClient(deps, request);
  const text = request.require('token');
  const { issuer } = deps;

  const found = await findRefreshFamily(deps, institutionId, text);
  if (found !== undefined) {
    if (standingOf(deps, found) !== 'rotate') return inactive;
    const { scopes, clientId, idleUntil, createdAt, user } = found.family;
    return {
      active: true,
      scope: scopes.join(' '),
      client_id: clientId,
      exp: seconds(idleUntil),
      iat: seconds(createdAt),
      sub: user.userId,
      aud: issuer,
      iss: issuer,
      institution_id: institutionId,
      token_use: 'member',
    };
  }

  const verified = await verifiedToken(deps, text);
  if (verified?.institutionId !== institutionId) return inactive;
  const living = await livingToken(deps, verified);
  if (living === undefined) return inactive;
  const { token } = living;
  return {
    active: true,
    scope: token.scopes.join(' '),
    client_id: token.clientId,
    token_type: 'Bearer',
    exp: token.expiresAt,
    iat: token.issuedAt,
    sub: token.userId ?? token.clientId,
    aud: issuer,
    iss: issuer,
    jti: token.tokenId,
    institution_id: institutionId,
    token_use: token.use,
  };
}

function seconds(at: Date): number {
  return Math.floor(at.getTime() / 1000);
}
