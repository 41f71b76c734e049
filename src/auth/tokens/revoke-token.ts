import { appendAudit } from '../../events/index.ts';
import { authenticateClient } from '../clients/client-authentication.ts';
import type { AuthDeps } from '../deps.ts';
import { clockSkewMillis } from '../keys/key-states.ts';
import { endRefreshFamily, findRefreshFamily } from '../refresh/refresh-families.ts';
import { revokeAccessToken } from '../refresh/refresh-queries.ts';
import type { VerifiedToken } from './access-tokens.ts';
import { verifyOwnToken } from './active-token.ts';
import { OAuthError } from './oauth-error.ts';
import { type RawTokenRequest, TokenRequest } from './token-request.ts';

/**
 * RFC 7009. An access token ends alone, a refresh token with its whole login. Unknown and ended tokens need no revocation. A token of
 * another client is refused. The hint is ignored, since the two kinds cannot be confused. Throws OAuthError.
 */
export async function revokeToken(deps: AuthDeps, raw: RawTokenRequest): Promise<void> {
  const request = new TokenRequest(raw);
  const { institutionId, clientId } = await authenticateClient(deps, request);
  const text = request.require('token');
  const notYours = (subject?: string): OAuthError => {
    const reason = 'unauthorized_client';
    const entry = { action: 'token.revoked', outcome: 'refused', reason, clientId, subject } as const;
    deps.audit.note(institutionId, { ...entry, origin: raw.origin });
    // RFC 7009 section 2.1.
    return new OAuthError(reason, 'The token was issued to another client.');
  };
  const found = await findRefreshFamily(deps, institutionId, text);
  if (found !== undefined) {
    if (found.family.clientId !== clientId) throw notYours(found.family.familyId);
    const { family } = found;
    await endRefreshFamily(deps, institutionId, { family, reason: 'refresh_token', origin: raw.origin });
    return;
  }
  const token = await verifyOwnToken(deps, text);
  if (token === undefined) return;
  // The id of another institution's token stays out of this institution's audit.
  if (token.institutionId !== institutionId) throw notYours();
  const { tokenId: subject, userId } = token;
  if (token.clientId !== clientId) throw notYours(subject);
  await deps.database.transaction(institutionId, async (tx) => {
    if (!(await revokeAccessToken(tx, subject, acceptedUntil(token)))) return;
    const entry = { reason: 'access_token', origin: raw.origin, clientId, userId, subject };
    const at = deps.clock();
    await appendAudit(tx, { action: 'token.revoked', outcome: 'succeeded', ...entry }, at);
  });
}

/** After this time no process accepts the token, even with a late clock. */
function acceptedUntil({ expiresAt }: VerifiedToken): Date {
  return new Date(expiresAt * 1000 + clockSkewMillis);
}
