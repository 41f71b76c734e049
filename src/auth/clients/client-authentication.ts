import { timingSafeEqual } from 'node:crypto';
import { wholeService } from '../../events/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import type { AuthDeps } from '../deps.ts';
import { clockSkewMillis } from '../keys/key-states.ts';
import { OAuthError } from '../tokens/oauth-error.ts';
import type { TokenRequest } from '../tokens/token-request.ts';
import { auditedNameHash } from './audited-name.ts';
import { type ClientRow, clients } from './authentication-queries.ts';
import { assertedClientId, clientAssertionType, verifyClientAssertion } from './client-assertion.ts';
import { recordClientAssertion } from './replay-cache.ts';

export interface AuthenticatedClient extends ClientRow {
  readonly institutionId: InstitutionId;
}

export const clientSecretPurpose = 'client secret';

type Credentials = { readonly clientId: string } & (
  | { readonly secret: string }
  | { readonly assertion: string }
);

/**
 * By a secret in the body or in HTTP Basic (RFC 6749 section 2.3.1), or by an assertion signed with a registered key
 * (RFC 7523); never by two ways at once. A client that is switched off, or that calls from elsewhere than its networks,
 * is told the same as one that does not exist. OAuthError `invalid_client`, `invalid_request`.
 */
export async function authenticateClient(
  deps: AuthDeps,
  request: TokenRequest,
): Promise<AuthenticatedClient> {
  const credentials = readCredentials(request);
  const { clientId } = credentials;
  const institutionId = await deps.clientDirectory.institutionOf(clientId);
  const now = deps.clock();
  const pausedFor = neighbourhood(request.origin.address);
  const refuse = async (reason: string, error = wrongClient()): Promise<OAuthError> => {
    const entry = { action: 'token_request', outcome: 'refused', reason, origin: request.origin } as const;
    // What stands in the place of an unknown client's id may be anything, a secret too.
    if (institutionId !== undefined) deps.audit.note(institutionId, { ...entry, clientId });
    else deps.audit.note(wholeService, { ...entry, nameHash: auditedNameHash(deps.vault, clientId) });
    // Only who is refused waits: an institution's backend may share its address with whoever tries secrets.
    await deps.clientBackoff.wait(pausedFor);
    deps.clientBackoff.failed(pausedFor);
    return error;
  };
  if (institutionId === undefined) throw await refuse('unknown_client');
  const { address } = request.origin;
  const client = await deps.database.readBatched(institutionId, clients, { clientId, address, now });
  if (client === undefined) throw await refuse('unknown_client');
  if (!client.isFromItsNetworks) throw await refuse('foreign_network');
  if ('secret' in credentials) {
    const hash = deps.vault.hash(clientSecretPurpose, credentials.secret);
    if (!client.secretHashes.some((known) => timingSafeEqual(known, hash)))
      throw await refuse('wrong_secret');
  } else {
    const { keys, allowsTokenEndpointAudience } = client;
    const expected = { clientId, keys, issuer: deps.issuer, allowsTokenEndpointAudience, now };
    const verifying = verifyClientAssertion(credentials.assertion, expected);
    const spent = await verifying.catch(async (error) => {
      throw error instanceof OAuthError ? await refuse('wrong_assertion', error) : error;
    });
    const hash = deps.vault.hash('client assertion', `${clientId}\0${spent.id}`);
    const first = await deps.database.write(institutionId, (db) =>
      // A process whose clock is behind ours believes it longer.
      recordClientAssertion(db, hash, new Date(spent.expiresAt.getTime() + clockSkewMillis)),
    );
    if (!first) {
      const replayed = new OAuthError('invalid_client', 'The client assertion was used before.');
      throw await refuse('replayed_assertion', replayed);
    }
  }
  if (!client.active) throw await refuse('client_inactive');
  deps.clientBackoff.succeeded(pausedFor);
  return { ...client, institutionId };
}

/** An IPv6 subscriber has a /64 and can call from any address in it. */
function neighbourhood(address: string | null): string {
  if (!address?.includes(':')) return address ?? '';
  const [left = [], right = []] = address.split('::').map((half) => half.split(':').filter(Boolean));
  const zeros = Array(Math.max(0, 8 - left.length - right.length)).fill('0');
  return [...left, ...zeros, ...right].slice(0, 4).join(':');
}

function readCredentials(request: TokenRequest): Credentials {
  const clientId = request.text('client_id');
  const secret = request.text('client_secret');
  const assertion = readAssertion(request);
  const authorization = request.authorization || undefined;
  const ways = [secret, assertion, authorization].filter((way) => way !== undefined);
  // RFC 6749 section 5.2. An access token in the header proves nothing here; who it is for might be another client.
  if (ways.length > 1) {
    throw new OAuthError(
      'invalid_request',
      'A client authenticates in one way: in the body, in Basic, or by an assertion. Beside another no Authorization header is taken, whatever it holds.',
    );
  }
  if (assertion !== undefined) {
    // RFC 7521 section 4.2: where there is a client_id, it names the same client.
    const asserted = assertedClientId(assertion);
    if (clientId !== undefined && clientId !== asserted) throw wrongClient();
    return { clientId: asserted, assertion };
  }
  if (authorization !== undefined) {
    const basic = readBasic(authorization);
    if (clientId !== undefined && clientId !== basic.clientId) {
      throw new OAuthError('invalid_request', 'client_id differs from the one in Basic.');
    }
    return basic;
  }
  if (clientId === undefined || secret === undefined) {
    throw new OAuthError('invalid_client', 'Client authentication is needed.');
  }
  return { clientId, secret };
}

function readAssertion(request: TokenRequest): string | undefined {
  const assertion = request.text('client_assertion');
  const type = request.text('client_assertion_type');
  if (assertion === undefined && type === undefined) return undefined;
  if (assertion === undefined || type !== clientAssertionType) {
    throw new OAuthError(
      'invalid_request',
      `client_assertion comes with client_assertion_type ${clientAssertionType}.`,
    );
  }
  return assertion;
}

/** Both parts are form-encoded before they are joined and base64-encoded: some libraries send demo%2Dapp. */
function readBasic(authorization: string): { clientId: string; secret: string } {
  if (!/^basic(?: |$)/i.test(authorization)) {
    throw new OAuthError(
      'invalid_client',
      'A client authenticates in HTTP Basic, in the body, or by an assertion; an access token is none of them.',
    );
  }
  const encoded = /^basic +([A-Za-z0-9+/_-]+={0,2})$/i.exec(authorization)?.[1];
  const pair = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  if (colon < 1) throw malformedBasic();
  try {
    const clientId = formDecode(pair.slice(0, colon));
    // What no database would take is nobody's.
    if (clientId.includes('\0')) throw malformedBasic();
    return { clientId, secret: formDecode(pair.slice(colon + 1)) };
  } catch {
    throw malformedBasic();
  }
}

function malformedBasic(): OAuthError {
  return new OAuthError(
    'invalid_client',
    'HTTP Basic is malformed: it is client_id:client_secret in base64, each form-encoded before.',
  );
}

function formDecode(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

/** An unknown client and a wrong secret are told the same. */
function wrongClient(): OAuthError {
  return new OAuthError('invalid_client', 'The client or its secret is wrong.');
}
