import type { Acr } from '../../institutions/index.ts';
import { type Cnf, cnfOf } from '../binding/confirmation.ts';
import { authenticateClient } from '../clients/client-authentication.ts';
import type { AuthDeps } from '../deps.ts';
import { findRefreshFamily, refreshDecision } from '../refresh/refresh-families.ts';
import { findActiveToken, scopesNow, verifyOwnToken } from './active-token.ts';
import { OAuthError } from './oauth-error.ts';
import { type RawTokenRequest, TokenRequest } from './token-request.ts';

/** RFC 7662 section 2.2; times in seconds. */
export type Introspection =
  | { readonly active: false }
  | {
      readonly active: true;
      readonly scope: string;
      readonly client_id: string;
      /** Present for access tokens only. */
      readonly token_type?: 'Bearer' | 'DPoP';
      /** RFC 9449 section 6.2, RFC 8705 section 3.2. */
      readonly cnf?: Cnf;
      readonly exp: number;
      readonly iat: number;
      readonly sub: string;
      readonly aud: string;
      readonly iss: string;
      readonly jti?: string;
      readonly institution_id: number;
      readonly token_use: 'client' | 'member';
      /** RFC 9470 section 6.2. */
      readonly auth_time?: number;
      readonly acr?: Acr;
      readonly amr?: readonly string[];
    };

const inactive: Introspection = { active: false };

/**
 * RFC 7662. A client may introspect the tokens that were issued to it; with a right of its own, all tokens of its
 * institution. Any other token is reported as inactive. Throws OAuthError.
 */
export async function introspectToken(deps: AuthDeps, raw: RawTokenRequest): Promise<Introspection> {
  const request = new TokenRequest(raw);
  const client = await authenticateClient(deps, request);
  const { institutionId } = client;
  // RFC 7662 section 2.1: the caller is authorized, so that no one scans for tokens.
  if (client.isPublic) throw new OAuthError('invalid_client', 'A public client cannot introspect.');
  const mayIntrospect = (owner: string) => client.introspectsAll || owner === client.clientId;
  const text = request.require('token');
  const { issuer } = deps;

  const found = await findRefreshFamily(deps, institutionId, text);
  if (found !== undefined) {
    if (!mayIntrospect(found.family.clientId) || refreshDecision(deps, found) !== 'rotate') return inactive;
    const { scopes, clientId, idleUntil, createdAt, userId } = found.family;
    return {
      active: true,
      scope: scopes.join(' '),
      client_id: clientId,
      exp: seconds(idleUntil),
      iat: seconds(createdAt),
      sub: userId,
      aud: issuer,
      iss: issuer,
      institution_id: institutionId,
      token_use: 'member',
    };
  }

  const token = await verifyOwnToken(deps, text);
  if (token?.institutionId !== institutionId) return inactive;
  // Also read for a token of another client; otherwise the time would reveal whether it is active.
  const status = await findActiveToken(deps, token);
  if (status === undefined || !mayIntrospect(token.clientId)) return inactive;
  return {
    active: true,
    scope: scopesNow(token, status).join(' '),
    client_id: token.clientId,
    token_type: token.confirmation?.method === 'jkt' ? 'DPoP' : 'Bearer',
    ...(token.confirmation !== undefined && { cnf: cnfOf(token.confirmation) }),
    exp: token.expiresAt,
    iat: token.issuedAt,
    sub: token.userId ?? token.clientId,
    aud: issuer,
    iss: issuer,
    jti: token.tokenId,
    institution_id: institutionId,
    token_use: token.use,
    ...(token.authTime !== undefined && { auth_time: token.authTime }),
    ...(token.acr !== undefined && { acr: token.acr }),
    ...(token.methods !== undefined && { amr: token.methods }),
  };
}

function seconds(at: Date): number {
  return Math.floor(at.getTime() / 1000);
}
