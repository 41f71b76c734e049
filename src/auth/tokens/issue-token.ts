import type { AuditAction } from '../../events/index.ts';
import { confirmRequest } from '../binding/check-binding.ts';
import type { Confirmation } from '../binding/confirmation.ts';
import { type AuthenticatedClient, authenticateClient } from '../clients/client-authentication.ts';
import type { AuthDeps } from '../deps.ts';
import { readProof } from '../dpop/check-proof.ts';
import type { Proof } from '../dpop/proof.ts';
import type { TokenHolder } from '../grants/grant.ts';
import { grants } from '../grants/index.ts';
import { beginRefreshFamily } from '../refresh/refresh-families.ts';
import { issueIdToken } from './id-token.ts';
import { OAuthError } from './oauth-error.ts';
import { grantScopes, memberScopes, type Scope } from './scopes.ts';
import { type RawTokenRequest, TokenRequest } from './token-request.ts';

export interface TokenResponse {
  readonly access_token: string;
  readonly token_type: 'Bearer' | 'DPoP';
  readonly expires_in: number;
  readonly scope: string;
  readonly refresh_token?: string;
  /** OpenID Connect Core 1.0 section 3.1.3.3. */
  readonly id_token?: string;
}

/**
 * The token operation (RFC 6749). Unknown parameters are ignored (section 3.2). Throws OAuthError; Problem `overloaded` if too many
 * sign-ins wait, `too_many_requests` beyond the client's rate.
 */
export async function issueToken(deps: AuthDeps, raw: RawTokenRequest): Promise<TokenResponse> {
  const request = new TokenRequest(raw);
  const grantType = request.require('grant_type');
  const proof = readProof(deps, request);
  const client = await authenticateClient(deps, request);
  raw.countFor?.(client.clientId);
  try {
    return await issueTo(deps, client, { request, proof });
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
  { request, proof }: { readonly request: TokenRequest; readonly proof: Proof | undefined },
): Promise<TokenResponse> {
  const grantType = request.require('grant_type');
  const grant = grants.get(grantType);
  if (grant === undefined) throw new OAuthError('unsupported_grant_type', 'There is no such grant.');
  if (!client.grants.includes(grantType)) {
    throw new OAuthError('unauthorized_client', 'The client may not use this grant.');
  }
  const requested = grantScopes(request.text('scope'), client.scopes);
  const { certificate } = request;
  const confirmation = await confirmRequest(deps, client, { proof, certificate });
  const granted = await grant.authorize(deps, client, request, confirmation);
  if (granted.use === 'member') request.recognize?.({ userKey: String(granted.userKey) });
  const { scopes: own, maxScopes, maxLifetimeSeconds, idToken, ...holder } = granted;
  const mayCarry = (scope: Scope) =>
    (maxScopes?.includes(scope) ?? true) && (holder.use === 'client' || memberScopes.includes(scope));
  const scopes = (own ?? requested).filter(mayCarry);
  if (requested.length > 0 && scopes.length === 0) {
    throw new OAuthError('invalid_scope', 'Nothing of the scope can be granted.');
  }
  const usualSeconds = client.tokenLifetimeSeconds ?? deps.accessTokenLifetimeSeconds;
  const lifetimeSeconds = Math.min(usualSeconds, maxLifetimeSeconds ?? usualSeconds);
  // The password grant writes its audit entry together with the user's row.
  if (grantType !== 'password') {
    deps.audit.note(client.institutionId, {
      action: actionOf(grantType),
      outcome: 'succeeded',
      reason: grantType,
      origin: request.origin,
      clientId: client.clientId,
      ...(holder.use === 'member' && { userId: holder.userId, subject: holder.provider?.providerId }),
    });
  }
  const withRefresh = await withRefreshToken(deps, client, { holder, scopes, confirmation });
  const response = await toResponse(deps, client, { ...withRefresh, lifetimeSeconds });
  if (idToken === undefined || holder.use !== 'member' || !scopes.includes('openid')) return response;
  const signedIn = { ...holder, ...idToken, accessToken: response.access_token };
  return { ...response, id_token: await issueIdToken(deps, client, signedIn) };
}

interface Granted {
  readonly holder: TokenHolder;
  readonly scopes: readonly Scope[];
  readonly confirmation: Confirmation | undefined;
}

/**
 * Adds a refresh token for a member whose client asked for `offline_access` and may have it. An asserted member gets none, since the
 * client brings another assertion (RFC 7521 section 4.1); the scope is then left out (OpenID Connect Core 1.0 section 11).
 */
async function withRefreshToken(
  deps: AuthDeps,
  client: AuthenticatedClient,
  { holder, scopes, confirmation }: Granted,
): Promise<Granted> {
  if (!scopes.includes('offline_access')) return { holder, scopes, confirmation };
  const isRenewable = holder.use === 'member' && holder.provider === undefined;
  if (!isRenewable || !client.grants.includes('refresh_token')) {
    return { holder, scopes: scopes.filter((scope) => scope !== 'offline_access'), confirmation };
  }
  if (holder.refreshToken !== undefined) return { holder, scopes, confirmation };
  const { userKey, userEpoch, methods } = holder;
  const family = await beginRefreshFamily(deps, client, {
    ...{ userKey, userEpoch, scopes, confirmation, methods },
  });
  return { holder: { ...holder, ...family }, scopes, confirmation };
}

async function toResponse(
  deps: AuthDeps,
  { institutionId, clientId, tokenEpoch: clientEpoch }: AuthenticatedClient,
  { holder, scopes, confirmation, lifetimeSeconds }: Granted & { readonly lifetimeSeconds: number },
): Promise<TokenResponse> {
  const subject = { institutionId, clientId, clientEpoch, scopes, confirmation, ...holder };
  const refreshToken = holder.use === 'member' ? holder.refreshToken : undefined;
  return {
    access_token: await deps.tokens.issue(subject, lifetimeSeconds),
    token_type: confirmation?.method === 'jkt' ? 'DPoP' : 'Bearer',
    expires_in: lifetimeSeconds,
    scope: scopes.join(' '),
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
  };
}

function actionOf(grantType: string): AuditAction {
  return grantType === 'client_credentials' ? 'client_token' : 'login';
}
