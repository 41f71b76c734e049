import { timingSafeEqual } from 'node:crypto';
import { wholeService } from '../../events/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import { InvalidCertificateError } from '../binding/invalid-certificate-error.ts';
import { readClientCert } from '../binding/read-certificate.ts';
import type { AuthDeps } from '../deps.ts';
import { clockSkewMillis } from '../keys/key-states.ts';
import { networkOf } from '../sign-in/network.ts';
import { OAuthError } from '../tokens/oauth-error.ts';
import type { TokenRequest } from '../tokens/token-request.ts';
import { auditedNameHash } from './audited-name.ts';
import { type ClientRow, selectClient } from './authentication-queries.ts';
import {
  assertedClientId,
  clientAssertionType,
  refusalOfAssertion,
  verifyClientAssertion,
} from './client-assertion.ts';
import { recordClientAssertion } from './replay-cache.ts';

export interface AuthenticatedClient extends ClientRow {
  readonly institutionId: InstitutionId;
}

export const clientSecretPurpose = 'client secret';

type Credentials = { readonly clientId: string } & (
  | { readonly secret: string }
  | { readonly assertion: string }
  /** A public client proves nothing here; its code's verifier or its refresh token does. Any other proves its certificate. */
  | { readonly certificate: string | undefined }
);

type Refuse = (reason: string, error?: OAuthError) => Promise<OAuthError>;

/**
 * Authenticates a client by a secret in the body or in HTTP Basic (RFC 6749 section 2.3.1), or by an assertion that is signed with a
 * registered key (RFC 7523), or else by a registered certificate of its TLS connection (RFC 8705 section 2.2). A public client has none of them and
 * names itself. A request with a secret and an assertion is rejected. A client that is off, or that calls from outside its networks, gets the
 * response of an unknown client. Throws OAuthError `invalid_client`, `invalid_request`.
 */
export async function authenticateClient(
  deps: AuthDeps,
  request: TokenRequest,
): Promise<AuthenticatedClient> {
  const credentials = readCredentials(request);
  const { clientId } = credentials;
  const { origin } = request;
  const institutionId = await deps.clientDirectory.institutionOf(clientId);
  const now = deps.clock();
  const backoffKey = networkOf(origin.address ?? '');
  const presented =
    'certificate' in credentials ? presentedCertificate(credentials.certificate, now) : undefined;
  const unverified = 'assertion' in credentials ? refusalOfAssertion(credentials.assertion) : wrongClient();
  const refuse: Refuse = async (reason, error = presented?.refusal ?? unverified) => {
    const entry = { action: 'token_request', outcome: 'refused', reason, origin } as const;
    // An unknown client id is hashed, since a caller may have put a secret in its place.
    if (institutionId !== undefined) deps.audit.note(institutionId, { ...entry, clientId });
    else deps.audit.note(wholeService, { ...entry, nameHash: auditedNameHash(deps.vault, clientId) });
    // Only a refused caller waits: an institution's server may share its address with an attacker.
    await deps.clientBackoff.wait(backoffKey);
    deps.clientBackoff.failed(backoffKey);
    return error;
  };
  if (institutionId === undefined) throw await refuse('unknown_client');
  const { address } = origin;
  const row = await deps.database.read(institutionId, (db) => selectClient(db, { clientId, address, now }));
  if (row === undefined) throw await refuse('unknown_client');
  if (!row.isFromItsNetworks) throw await refuse('foreign_network');
  const client = { ...row, institutionId };
  if ('certificate' in credentials) {
    const isProven = client.certificateThumbprints.some((known) => known === presented?.thumbprint);
    const reason = credentials.certificate === undefined ? 'no_proof' : 'wrong_certificate';
    if (!isProven && !client.isPublic) throw await refuse(reason);
  } else if ('secret' in credentials) {
    const hash = deps.vault.hash(clientSecretPurpose, credentials.secret);
    if (!client.secretHashes.some((known) => timingSafeEqual(known, hash))) {
      throw await refuse('wrong_secret');
    }
  } else {
    await checkAssertion(deps, client, { ...credentials, now, refuse });
  }
  if (!client.active) throw await refuse('client_inactive');
  deps.clientBackoff.succeeded(backoffKey);
  request.recognize?.({ institutionId, clientId });
  return client;
}

/**
 * The certificate of a request without other credentials, and its refusal, which is the same for a known client and an unknown one. The
 * handshake has proven the certificate's key.
 */
function presentedCertificate(
  header: string | undefined,
  now: Date,
): { readonly thumbprint?: string; readonly refusal: OAuthError } {
  if (header === undefined) return { refusal: unprovenClient() };
  try {
    const refusal = new OAuthError('invalid_client', 'The client or its certificate is wrong.');
    return { thumbprint: readClientCert(header, now).thumbprint, refusal };
  } catch (error) {
    if (!(error instanceof InvalidCertificateError)) throw error;
    const description = `The client certificate is refused: ${error.message}.`;
    return { refusal: new OAuthError('invalid_client', description) };
  }
}

async function checkAssertion(
  { issuer, vault, database }: AuthDeps,
  client: AuthenticatedClient,
  { assertion, now, refuse }: { readonly assertion: string; readonly now: Date; readonly refuse: Refuse },
): Promise<void> {
  const { institutionId, clientId } = client;
  const { id, expiresAt } = await verifyClientAssertion(assertion, { client, issuer, now }).catch(
    async (error) => {
      throw error instanceof OAuthError ? await refuse('wrong_assertion', error) : error;
    },
  );
  const hash = vault.hash('client assertion', `${clientId}\0${id}`);
  // A process with a late clock accepts the assertion longer.
  const forgottenAt = new Date(expiresAt.getTime() + clockSkewMillis);
  if (!(await database.write(institutionId, (db) => recordClientAssertion(db, hash, forgottenAt)))) {
    const replayed = new OAuthError('invalid_client', 'The client assertion was used before.');
    throw await refuse('replayed_assertion', replayed);
  }
}

function readCredentials(request: TokenRequest): Credentials {
  const clientId = request.text('client_id');
  const secret = request.text('client_secret');
  const assertion = readAssertion(request);
  const authorization = request.authorization || undefined;
  const ways = [secret, assertion, authorization].filter((way) => way !== undefined);
  // RFC 6749 section 5.2. An access token in the header proves nothing here, and may be another client's.
  if (ways.length > 1) {
    throw new OAuthError(
      'invalid_request',
      'A client authenticates in one way: in the body, in Basic, or by an assertion. Beside another, any Authorization header is refused.',
    );
  }
  if (assertion !== undefined) {
    // RFC 7521 section 4.2: a client_id beside the assertion must name the same client.
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
  if (clientId === undefined) throw unprovenClient();
  return secret === undefined ? { clientId, certificate: request.certificate } : { clientId, secret };
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

/** Both parts are form-encoded before they are joined and base64-encoded; some libraries send demo%2Dapp. */
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
    // PostgreSQL stores no NUL, so no client id has one.
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

function unprovenClient(): OAuthError {
  return new OAuthError('invalid_client', 'Client authentication is needed.');
}

/** The same for an unknown client and a wrong secret. */
function wrongClient(): OAuthError {
  return new OAuthError('invalid_client', 'The client or its secret is wrong.');
}
