import { authenticateClient } from './client-authentication.ts';
import type { AuthDeps } from './deps.ts';
import { grants } from './grants/index.ts';
import { OAuthError } from './oauth-error.ts';
import { grantScopes } from './scopes.ts';
import { type RawTokenRequest, TokenRequest } from './token-request.ts';

export interface TokenResponse {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  readonly scope: string;
}

/**
 * The token operation (RFC 6749). Unknown parameters are ignored, as section 3.2 asks. OAuthError says what was wrong;
 * Problem `overloaded` when too many logins wait.
 */
export async function issueToken(deps: AuthDeps, raw: RawTokenRequest): Promise<TokenResponse> {
  const request = new TokenRequest(raw);
  const grantType = request.require('grant_type');
  const client = await authenticateClient(deps, request);
  const grant = grants.get(grantType);
  if (grant === undefined) throw new OAuthError('unsupported_grant_type', 'There is no such grant.');
  if (!client.grants.includes(grantType)) {
    throw new OAuthError('unauthorized_client', 'The client may not use this grant.');
  }
  const asked = grantScopes(request.text('scope'), client.scopes);
  const { mostScopes, mostSeconds, ...bearer } = await grant.authorize(deps, client, request);
  const scopes = asked.filter((scope) => mostScopes?.includes(scope) ?? true);
  if (scopes.length < Math.min(asked.length, 1))
    throw new OAuthError('invalid_scope', 'Nothing of the scope can be granted.');
  const usualSeconds = client.tokenLifetimeSeconds ?? deps.accessTokenLifetimeSeconds;
  const lifetimeSeconds = Math.min(usualSeconds, mostSeconds ?? usualSeconds);
  const { institutionId, clientId } = client;
  const accessToken = await deps.tokens.issue(
    { institutionId, clientId, scopes, ...bearer },
    lifetimeSeconds,
  );
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: lifetimeSeconds,
    scope: scopes.join(' '),
  };
}
