import { timingSafeEqual } from 'node:crypto';
import type { InstitutionId } from '../storage/index.ts';
import type { AuthDeps } from './deps.ts';
import { OAuthError } from './oauth-error.ts';
import { type ClientRow, selectClient, selectInstitutionOfClient } from './queries.ts';
import type { TokenRequest } from './token-request.ts';

export interface AuthenticatedClient extends ClientRow {
  readonly institutionId: InstitutionId;
}

export const clientSecretPurpose = 'client secret';

/** RFC 6749 section 2.3.1: the secret in the body or in HTTP Basic, never both. OAuthError `invalid_client`. */
export async function authenticateClient(
  deps: AuthDeps,
  request: TokenRequest,
): Promise<AuthenticatedClient> {
  const { clientId, clientSecret } = readCredentials(request);
  const institutionId = await deps.database.directory((db) => selectInstitutionOfClient(db, clientId));
  if (institutionId === undefined) throw wrongClient();
  const client = await deps.database.read(institutionId, (db) =>
    selectClient(db, institutionId, clientId, deps.clock()),
  );
  const hash = deps.vault.hash(clientSecretPurpose, clientSecret);
  const matches = client?.secretHashes.some((known) => timingSafeEqual(known, hash));
  if (client === undefined || !client.active || matches !== true) throw wrongClient();
  return { ...client, institutionId };
}

function readCredentials(request: TokenRequest): { clientId: string; clientSecret: string } {
  const bodyId = request.text('client_id');
  const bodySecret = request.text('client_secret');
  const basic = readBasic(request.authorization);
  if (basic === undefined) {
    if (bodyId === undefined || bodySecret === undefined) {
      throw new OAuthError('invalid_client', 'Client authentication is needed.');
    }
    return { clientId: bodyId, clientSecret: bodySecret };
  }
  if (bodySecret !== undefined) {
    throw new OAuthError('invalid_request', 'Client credentials stand in the body or in Basic, not in both.');
  }
  if (bodyId !== undefined && bodyId !== basic.clientId) {
    throw new OAuthError('invalid_request', 'client_id differs from the one in Basic.');
  }
  return basic;
}

/** Both parts are form-encoded before they are joined and base64-encoded: some libraries send demo%2Dapp. */
function readBasic(
  authorization: string | undefined,
): { clientId: string; clientSecret: string } | undefined {
  if (authorization === undefined) return undefined;
  const encoded = /^basic +([A-Za-z0-9+/_-]+={0,2})$/i.exec(authorization)?.[1];
  const pair = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  if (colon < 1) throw wrongClient();
  try {
    const clientId = formDecode(pair.slice(0, colon));
    // What no database would take is nobody's.
    if (clientId.includes('\0')) throw wrongClient();
    return { clientId, clientSecret: formDecode(pair.slice(colon + 1)) };
  } catch {
    throw wrongClient();
  }
}

function formDecode(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

/** An unknown client and a wrong secret are told the same. */
function wrongClient(): OAuthError {
  return new OAuthError('invalid_client', 'The client or its secret is wrong.');
}
