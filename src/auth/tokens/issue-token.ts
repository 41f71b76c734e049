import type { AuditAction } from '../../events/index.ts';
import { type AuthenticatedClient, authenticateClient } from '../clients/client-authentication.ts';
import type { AuthDeps } from '../deps.ts';
import type { Bearer } from '../grants/grant.ts';
import { grants } from '../grants/index.ts';
import { beginRefreshFamily } from '../refresh/refresh-families.ts';
import { OAuthError } from './oauth-error.ts';
import { grantScopes, memberScopes, type Scope } from './scopes.ts';
import { type RawTokenRequest, TokenRequest } from './token-request.ts';

export interface TokenResponse {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  readonly scope: string;
  readonly refresh_token?: string;
}

/**
 * The token operation (RFC 6749). Unknown parameters are ignored, as section 3.2 asks. OAuthError says what was wrong;
 * Problem `overloaded` when too many logins wait, `too_many_requests` when the client has had its share.
 */
export async function issueToken(deps: AuthDeps, raw: RawTokenRequest): Promise<TokenResponse> {
  const request = new TokenRequest(raw);
  const grantType = request.require('grant_type');
  const client = await authenticateClient(deps, request);
  raw.countFor?.(client.clientId);
  try {
    return await issueTo(deps, client, grantType, request);
  } catch (error) {
    if (error instanceof OAuthError) {
      deps.audit.note(client.institutionId, {
        action: grants.has(grantType) ? actionOf(grantType) : 'token_request',
        outcome: 'refused',
        reason: error.error,
        origin: raw.origin,
        clientId: client.clientId,
        ...error.facts,
      });
    }
    throw error;
  }
}

async function issueTo(
  deps: AuthDeps,
  client: AuthenticatedClient,
  grantType: string,
  request: TokenRequest,
): Promise<TokenResponse> {
  const grant = grants.get(grantType);
  if (grant === undefined) throw new OAuthError('unsupported_grant_type', 'There is no such grant.');
  if (!client.grants.includes(grantType)) {
    throw new OAuthError('unauthorized_client', 'The client may not use this grant.');
  }
  const asked = grantScopes(request.text('scope'), client.scopes);
  const {
    scopes: own,
    maxScopes,
    maxLifetimeSeconds,
    ...bearer
  } = await grant.authorize(deps, client, request);
  const mayCarry = (scope: Scope) =>
    (maxScopes?.includes(scope) ?? true) && (bearer.use === 'client' || memberScopes.includes(scope));
  const scopes = (own ?? asked).filter(mayCarry);
  if (scopes.length < Math.min(asked.length, 1))
    throw new OAuthError('invalid_scope', 'Nothing of the scope can be granted.');
  const usualSeconds = client.tokenLifetimeSeconds ?? deps.accessTokenLifetimeSeconds;
  const lifetimeSeconds = Math.min(usualSeconds, maxLifetimeSeconds ?? usualSeconds);
  const { institutionId, clientId } = client;
  // A login by password was written with the user's standing.
  if (grantType !== 'password') {
    deps.audit.note(institutionId, {
      action: actionOf(grantType),
      outcome: 'succeeded',
      reason: grantType,
      origin: request.origin,
      clientId,
      userId: bearer.use === 'member' ? bearer.userId : undefined,
    });
  }
  return answer(deps, client, await withRefresh(deps, client, bearer, scopes), lifetimeSeconds);
}

interface Granted {
  readonly bearer: Bearer;
  readonly scopes: readonly Scope[];
}

/**
 * Where `offline_access` was asked for and the client may, a member gets a refresh token; not for an assertion, which
 * is had anew instead (RFC 7521 section 4.1). Where it was asked for in vain it is left out of what is granted (OpenID
 * Connect Core 1.0 section 11).
 */
async function withRefresh(
  deps: AuthDeps,
  client: AuthenticatedClient,
  bearer: Bearer,
  scopes: readonly Scope[],
): Promise<Granted> {
  if (!scopes.includes('offline_access')) return { bearer, scopes };
  const may = bearer.use === 'member' && bearer.provider === undefined;
  if (!may || !client.grants.includes('refresh_token')) {
    return { bearer, scopes: scopes.filter((scope) => scope !== 'offline_access') };
  }
  if (bearer.refreshToken !== undefined) return { bearer, scopes };
  return { bearer: { ...bearer, ...(await beginRefreshFamily(deps, client, bearer, scopes)) }, scopes };
}

async function answer(
  deps: AuthDeps,
  client: AuthenticatedClient,
  { bearer, scopes }: Granted,
  lifetimeSeconds: number,
): Promise<TokenResponse> {
  const { institutionId, clientId, tokenEpoch: clientEpoch } = client;
  const accessToken = await deps.tokens.issue(
    { institutionId, clientId, clientEpoch, scopes, ...bearer },
    lifetimeSeconds,
  );
  const refreshToken = bearer.use === 'member' ? bearer.refreshToken : undefined;
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: lifetimeSeconds,
    scope: scopes.join(' '),
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
  };
}

function actionOf(grantType: string): AuditAction {
  return grantType === 'client_credentials' ? 'client_token' : 'login';
}
