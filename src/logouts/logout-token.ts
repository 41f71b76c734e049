import { randomUUID } from 'node:crypto';
import { clientSessionId, issuerAt, type SigningKeys, signJwt } from '../auth/index.ts';
import type { WebhookDeps } from '../webhooks/index.ts';
import type { Notice } from './notice-queries.ts';

export interface LogoutDeps extends WebhookDeps {
  readonly keys: SigningKeys;
  /** PUBLIC_URL. */
  readonly issuer: string;
}

/** The most that section 4 of the specification recommends. */
const lifetimeSeconds = 120;

/**
 * OpenID Connect Back-Channel Logout 1.0 section 2.4. It has no nonce, so that it passes as no ID token. Each attempt has a `jti` of its
 * own: an app may refuse one that it has seen, although its response was lost.
 */
export function issueLogoutToken(
  { keys, clock, issuer: publicUrl, vault }: LogoutDeps,
  { userId, clientId, sessionId, host }: Notice,
): Promise<string> {
  const issuedAt = Math.floor(clock().getTime() / 1000);
  // That of the ID token by which the app knows the session (section 2.6).
  const issuer = host === null ? publicUrl : issuerAt(host);
  const claims = {
    ...{ iss: issuer, sub: userId, aud: clientId, iat: issuedAt, exp: issuedAt + lifetimeSeconds },
    jti: randomUUID(),
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    sid: clientSessionId(vault, { sessionId, clientId }),
  };
  return signJwt(keys, { typ: 'logout+jwt', claims });
}
