import { keyThumbprintOf } from '../binding/confirmation.ts';
import type { AuthenticatedClient } from '../clients/client-authentication.ts';
import type { Device } from '../sign-in/devices.ts';
import { networkOf } from '../sign-in/network.ts';
import { type HalfProvenMember, provePassword } from '../sign-in/prove-password.ts';
import { OAuthError } from '../tokens/oauth-error.ts';
import type { TokenRequest } from '../tokens/token-request.ts';
import type { Grant } from './grant.ts';

/** RFC 6749 section 4.3. A member with an authenticator app signs in on our page only. */
export const password: Grant = {
  grantType: 'password',
  authorize: async (deps, client, request, confirmation) => {
    const { institutionId, clientId } = client;
    const proof = await provePassword(deps, {
      institutionId,
      clientId,
      username: request.require('username'),
      password: request.require('password'),
      sources: sourcesOf(client, request),
      origin: request.origin,
      device: deviceOf(client, request, keyThumbprintOf(confirmation)),
    });
    if (proof.kind === 'code_needed') throw secondFactorNeeded(proof.half);
    const { provenAt, ...member } = proof.member;
    return { use: 'member', ...member, authTime: Math.floor(provenAt.getTime() / 1000) };
  },
};

/** The grant has no second step, and without it the code would protect nothing (ADR 63). */
function secondFactorNeeded({ userId }: HalfProvenMember): OAuthError {
  const description = 'This member signs in with a second step. Use the authorization code grant.';
  return new OAuthError('invalid_grant', description, { reason: 'second_factor_needed', userId });
}

const longestDeviceId = 256;

/** The key that the app's tokens are bound to, since nobody can copy it; without one, the id that the app sends. */
function deviceOf(
  { clientId }: AuthenticatedClient,
  request: TokenRequest,
  keyThumbprint: string | undefined,
): Device {
  const deviceId = request.text('device_id') ?? null;
  if (deviceId !== null && deviceId.length > longestDeviceId) {
    throw new OAuthError('invalid_request', `device_id must have at most ${longestDeviceId} characters.`);
  }
  return keyThumbprint === undefined ? { kind: 'app', clientId, deviceId } : { kind: 'key', keyThumbprint };
}

/** A member's own address counts only if a trusted proxy states it; otherwise the address is a server of the client. */
function sourcesOf({ institutionId, clientId }: AuthenticatedClient, { origin }: TokenRequest): string[] {
  const client = `client ${institutionId} ${clientId}`;
  return origin.isForwarded
    ? [client, `address ${institutionId} ${networkOf(origin.address ?? '')}`]
    : [client];
}
