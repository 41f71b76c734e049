import type { Vault } from '../keys/vault.ts';

/** The `sid` of a browser's session in the tokens of one app. It differs between apps, and tells nothing of the session. */
export function clientSessionId(
  vault: Vault,
  { sessionId, clientId }: { readonly sessionId: string; readonly clientId: string },
): string {
  return vault.hash('session of client', `${sessionId} ${clientId}`).toString('base64url');
}
