import { appendAudit, type Origin } from '../../events/index.ts';
import { decideExchange } from '../authorization/decide-exchange.ts';
import { endGrants, type GrantRow, lockGrant, noteExchange } from '../authorization/grant-queries.ts';
import { codeHash } from '../authorization/issue-code.ts';
import type { AuthenticatedClient } from '../clients/client-authentication.ts';
import type { AuthDeps } from '../deps.ts';
import { clockSkewMillis, longestTokenSeconds } from '../keys/key-states.ts';
import { prepareRefreshFamily } from '../refresh/refresh-families.ts';
import { insertRefreshFamily } from '../refresh/refresh-queries.ts';
import { acrOf } from '../tokens/id-token.ts';
import { OAuthError, type RefusalFacts } from '../tokens/oauth-error.ts';
import { type Scope, scopesIn } from '../tokens/scopes.ts';
import type { Grant } from './grant.ts';

/**
 * RFC 6749 section 4.1.3 with PKCE (RFC 7636). The tokens carry the grant's id as `sid`. A code that comes a second time ends all
 * of them, and the consent stays.
 */
export const authorizationCode: Grant = {
  grantType: 'authorization_code',
  authorize: async (deps, client, request, confirmation) => {
    const code = request.require('code');
    const verifier = request.require('code_verifier');
    if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) throw wrongCode();
    const presented = {
      clientId: client.clientId,
      redirectUri: request.text('redirect_uri'),
      verifier,
      confirmation,
    };
    const { grant, decision, refreshToken } = await exchange(deps, client, {
      codeHash: codeHash(deps, code),
      presented,
      origin: request.origin,
    });
    if (grant === undefined) throw wrongCode();
    const { userId, userKey, userEpoch, customerIds, methods, grantId, consentId, consentUntil } = grant;
    if (decision !== 'exchange') {
      throw wrongCode({ userId, ...(decision === 'reuse' && { reason: 'code_reused' }) });
    }
    const authTime = Math.floor(grant.authenticatedAt.getTime() / 1000);
    return {
      use: 'member',
      ...{
        userId,
        userKey,
        userEpoch,
        customerIds,
        authTime,
        familyId: grantId,
        methods,
        acr: acrOf(methods),
      },
      ...(refreshToken !== undefined && { refreshToken }),
      ...(consentId !== null && { consentId }),
      scopes: scopesOf(grant, client),
      idToken: { nonce: grant.nonce, sessionId: grant.sessionId },
      ...(consentUntil !== null && { maxLifetimeSeconds: secondsUntil(consentUntil, deps.clock()) }),
    };
  },
};

interface Exchange {
  readonly codeHash: Buffer;
  readonly presented: Parameters<typeof decideExchange>[1];
  readonly origin: Origin;
}

interface Exchanged {
  readonly grant?: GrantRow;
  readonly decision?: ReturnType<typeof decideExchange>;
  readonly refreshToken?: string;
}

/** The refresh family begins in the same transaction, so that the end of a consent finds it. */
function exchange(
  deps: AuthDeps,
  client: AuthenticatedClient,
  { codeHash, presented, origin }: Exchange,
): Promise<Exchanged> {
  const { institutionId, clientId } = client;
  const at = deps.clock();
  return deps.database.transaction(institutionId, async (tx) => {
    const grant = await lockGrant(tx, codeHash);
    if (grant === undefined) return {};
    const { grantId, userId } = grant;
    const decision = decideExchange(grant, presented, at);
    if (decision === 'reuse') {
      const expiresAt = new Date(at.getTime() + longestTokenSeconds * 1000 + clockSkewMillis);
      await endGrants(tx, [grantId], { at, expiresAt });
      const entry = { action: 'token.revoked', outcome: 'succeeded', reason: 'code_reused' } as const;
      await appendAudit(tx, { ...entry, origin, clientId, userId, subject: grantId }, at);
    }
    if (decision !== 'exchange') return { grant, decision };
    await noteExchange(tx, grantId, at);
    const scopes = scopesOf(grant, client);
    if (!scopes.includes('offline_access') || !client.grants.includes('refresh_token')) {
      return { grant, decision };
    }
    const { userKey, userEpoch, authenticatedAt, consentUntil, methods } = grant;
    const { confirmation } = presented;
    const { row, refreshToken } = prepareRefreshFamily(deps, client, {
      ...{
        familyId: grantId,
        userKey,
        userEpoch,
        scopes,
        authenticatedAt,
        methods,
        confirmation,
      },
      ...(consentUntil !== null && { endsAt: consentUntil }),
    });
    await insertRefreshFamily(tx, row);
    return { grant, decision, refreshToken };
  });
}

/** Those that the client or the consent has lost since are left out. */
function scopesOf({ scopes, consentScopes }: GrantRow, client: AuthenticatedClient): Scope[] {
  return scopesIn(scopes).filter(
    (scope) => client.scopes.includes(scope) && (consentScopes?.includes(scope) ?? true),
  );
}

function secondsUntil(at: Date, now: Date): number {
  return Math.max(0, Math.floor((at.getTime() - now.getTime()) / 1000));
}

/** The response does not state the reason. */
function wrongCode(facts: RefusalFacts = {}): OAuthError {
  return new OAuthError('invalid_grant', 'The code is wrong, used, expired or not for this client.', facts);
}
