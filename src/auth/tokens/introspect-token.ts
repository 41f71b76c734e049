import { authenticateClient } from '../clients/client-authentication.ts';
import type { AuthDeps } from '../deps.ts';
import { findRefreshFamily, standingOf } from '../refresh/refresh-families.ts';
import { livingToken, verifiedToken } from './living-token.ts';
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
 * What a token is worth this moment. A client learns about the tokens that were issued to it and, by a right of its own,
 * about all of its institution; any other token is reported as inactive, and no more. OAuthError.
 */
export async function introspectToken(deps: AuthDeps, raw: RawTokenRequest): Promise<Introspection> {
  const request = new TokenRequest(raw);
  const client = await authenticateClient(deps, request);
  const { institutionId } = client;
  const mayKnow = (owner: string) => client.introspectsAll || owner === client.clientId;
  const text = request.require('token');
  const { issuer } = deps;

  const found = await findRefreshFamily(deps, institutionId, text);
  if (found !== undefined) {
    if (!mayKnow(found.family.clientId) || standingOf(deps, found) !== 'rotate') return inactive;
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
  // Read also for a token of another client, so that the time does not tell whether it is active.
  const living = await livingToken(deps, verified);
  if (living === undefined || !mayKnow(verified.clientId)) return inactive;
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
