import type { AuthenticatedClient } from '../clients/client-authentication.ts';
import { networkOf } from '../sign-in/network.ts';
import { provePassword } from '../sign-in/prove-password.ts';
import type { TokenRequest } from '../tokens/token-request.ts';
import type { Grant } from './grant.ts';

/** RFC 6749 section 4.3. */
export const password: Grant = {
  grantType: 'password',
  authorize: async (deps, client, request) => {
    const { institutionId, clientId } = client;
    const { provenAt, ...member } = await provePassword(deps, {
      institutionId,
      clientId,
      username: request.require('username'),
      password: request.require('password'),
      sources: sourcesOf(client, request),
      origin: request.origin,
    });
    return { use: 'member', ...member, authTime: Math.floor(provenAt.getTime() / 1000) };
  },
};

/** A member's own address counts only if a trusted proxy states it; otherwise the address is a server of the client. */
function sourcesOf({ institutionId, clientId }: AuthenticatedClient, { origin }: TokenRequest): string[] {
  const client = `client ${institutionId} ${clientId}`;
  return origin.isForwarded
    ? [client, `address ${institutionId} ${networkOf(origin.address ?? '')}`]
    : [client];
}
