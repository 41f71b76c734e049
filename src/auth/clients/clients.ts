import { randomBytes } from 'node:crypto';
import { type AuditEntry, appendAudit, type Origin, whatChanged } from '../../events/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { InstitutionId, Transaction } from '../../storage/index.ts';
import { deleteClientCertificate, insertClientCertificate } from '../binding/certificate-queries.ts';
import type { ClientCertificate } from '../binding/read-certificate.ts';
import type { AuthDeps } from '../deps.ts';
import { grants } from '../grants/index.ts';
import type { Scope } from '../tokens/scopes.ts';
import { clientSecretPurpose } from './client-authentication.ts';
import type { ClientKey } from './client-keys.ts';
import {
  type ClientChange,
  deleteClientKey,
  deleteClientSecrets,
  expireClientSecrets,
  insertClient,
  insertClientId,
  insertClientKey,
  insertClientSecret,
  type ListedClient,
  lockClient,
  replaceIdPrefixes,
  selectClientSecrets,
  selectClients,
  updateClient,
} from './client-queries.ts';
import { impliedBinding, refuseUnfit } from './security-profile.ts';

/** The rule of isClientId in words. */
export const clientIdRule = '1 to 128 letters, digits or . _ ~ -';

type ClientDeps = Pick<AuthDeps, 'database' | 'clock' | 'vault' | 'claims'>;

interface OperatorRequest {
  readonly clientId: string;
  readonly origin: Origin;
}

/** The grants that a client may be registered for. */
export const grantTypes: readonly string[] = [...grants.keys()];

/** Rights that are left out have the defaults of the table: the service's lifetime, any network, UNIFORM refusals. */
export interface NewClient extends Omit<ClientChange, 'active'> {
  readonly institutionId: InstitutionId;
  readonly clientId: string;
  readonly name: string;
  /** Default: 256 random bits, unless there is a key or a certificate, or the client is public. */
  readonly secret?: string;
  /** Replaces the secret. */
  readonly key?: ClientKey;
  /** Replaces the secret. */
  readonly certificate?: ClientCertificate;
  readonly scopes: readonly Scope[];
  readonly grants: readonly string[];
}

/**
 * Allows only characters that form-encoding leaves unchanged. RFC 6749 section 2.3.1 requires form-encoding in HTTP Basic, and
 * many libraries omit it. The database has the same rule.
 */
export function isClientId(text: string): boolean {
  return /^[A-Za-z0-9._~-]{1,128}$/.test(text);
}

/**
 * Returns the secret, of which only a keyed hash is stored. Undefined if the client id is taken. Problem `invalid_request` for
 * a malformed id, and for one that another cell has. Throws IdPrefixTakenError.
 */
export async function createClient(
  deps: ClientDeps,
  named: NewClient,
  origin: Origin,
): Promise<{ readonly secret: string | undefined } | undefined> {
  const { institutionId, clientId, key, certificate } = named;
  if (!isClientId(clientId)) throw new Problem('invalid_request', `A client id has ${clientIdRule}.`);
  const hasOther = key !== undefined || certificate !== undefined || named.isPublic === true;
  const secret = named.secret ?? (hasOther ? undefined : newSecret());
  const keyAlgorithms = key === undefined ? [] : [key.algorithm];
  const certificateThumbprints = certificate === undefined ? [] : [certificate.thumbprint];
  const client = { ...named, ...impliedBinding(named, { certificateThumbprints }) };
  const secrets = secret === undefined ? 0 : 1;
  refuseUnfit({ ...client, secrets, keyAlgorithms, certificateThumbprints });
  await deps.claims?.client(institutionId, clientId);
  return deps.database.transaction(institutionId, async (tx) => {
    if (!(await insertClientId(tx, clientId, institutionId))) return undefined;
    const createdAt = deps.clock();
    await insertClient(tx, client, createdAt);
    await updateClient(tx, clientId, client);
    if (client.idPrefixes) await replaceIdPrefixes(tx, clientId, client.idPrefixes);
    if (secret !== undefined) await saveSecret(deps, tx, { clientId, slot: 1, secret });
    if (key !== undefined) await insertClientKey(tx, clientId, { ...key, createdAt });
    if (certificate !== undefined) await insertClientCertificate(tx, clientId, { ...certificate, createdAt });
    const changes = whatChanged(undefined, await selectClient(deps, tx, clientId));
    await record(deps, tx, { action: 'client.created', clientId, origin, ...changes });
    return { secret };
  });
}

export function listClients(deps: ClientDeps, institutionId: InstitutionId): Promise<ListedClient[]> {
  return deps.database.read(institutionId, (db) => selectClients(db, deps.clock()));
}

/**
 * False: there is no such client. Switching it off ends its tokens for good. A client that gets the FAPI 2.0 profile keeps its way of binding
 * tokens. Throws IdPrefixTakenError.
 */
export function changeClient(
  deps: ClientDeps,
  institutionId: InstitutionId,
  { clientId, change: named, origin }: OperatorRequest & { readonly change: ClientChange },
): Promise<boolean> {
  return deps.database.transaction(institutionId, async (tx) => {
    if (!(await lockClient(tx, clientId))) return false;
    const before = await selectClient(deps, tx, clientId);
    const change = before === undefined ? named : { ...named, ...impliedBinding(named, before) };
    if (change.isPublic && before !== undefined && hasCredentials(before)) {
      throw new Problem(
        'invalid_request',
        'A public client has no secret, no key and no certificate: retire and remove them first.',
      );
    }
    if (before !== undefined) refuseUnfit({ ...before, ...change });
    await updateClient(tx, clientId, change);
    if (change.idPrefixes) await replaceIdPrefixes(tx, clientId, change.idPrefixes);
    const after = await selectClient(deps, tx, clientId);
    await record(deps, tx, { action: 'client.changed', clientId, origin, ...whatChanged(before, after) });
    return true;
  });
}

/** Adds a second secret; the first ends after `overlapMillis`. `two_already`: one of the two must be retired first. */
export function rotateSecret(
  deps: ClientDeps,
  institutionId: InstitutionId,
  { clientId, overlapMillis, origin }: OperatorRequest & { readonly overlapMillis: number },
): Promise<{ readonly secret: string } | 'no_such_client' | 'two_already'> {
  return deps.database.transaction(institutionId, async (tx) => {
    if (!(await lockClient(tx, clientId))) return 'no_such_client';
    await refuseUnfitWith(deps, tx, { clientId, added: ({ secrets }) => ({ secrets: secrets + 1 }) });
    const now = deps.clock();
    const all = await selectClientSecrets(tx, clientId);
    const over = all.filter(({ expiresAt }) => expiresAt !== null && expiresAt <= now);
    const valid = all.filter((one) => !over.includes(one));
    if (valid.length > 1) return 'two_already';
    await deleteClientSecrets(
      tx,
      clientId,
      over.map(({ slot }) => slot),
    );
    await expireClientSecrets(tx, clientId, new Date(now.getTime() + overlapMillis));
    const secret = newSecret();
    await saveSecret(deps, tx, { clientId, slot: valid[0]?.slot === 1 ? 2 : 1, secret });
    await record(deps, tx, { action: 'client.secret_added', clientId, origin });
    return { secret };
  });
}

/** Ends all secrets at once, or all except the newest. Returns their number; undefined: there is no such client. */
export function retireSecrets(
  deps: ClientDeps,
  institutionId: InstitutionId,
  { clientId, which, origin }: OperatorRequest & { readonly which: 'older' | 'all' },
): Promise<number | undefined> {
  return deps.database.transaction(institutionId, async (tx) => {
    if (!(await lockClient(tx, clientId))) return undefined;
    const slots = (await selectClientSecrets(tx, clientId)).map(({ slot }) => slot);
    if (which === 'older') slots.pop();
    await deleteClientSecrets(tx, clientId, slots);
    if (slots.length > 0) await record(deps, tx, { action: 'client.secret_removed', clientId, origin });
    return slots.length;
  });
}

/** Registers a key that the client signs its assertions with. */
export function addClientKey(
  deps: ClientDeps,
  institutionId: InstitutionId,
  { clientId, key, origin }: OperatorRequest & { readonly key: ClientKey },
): Promise<'added' | 'no_such_client' | 'kid_taken'> {
  return deps.database.transaction(institutionId, async (tx) => {
    if (!(await lockClient(tx, clientId))) return 'no_such_client';
    const { algorithm } = key;
    const added = ({ keyAlgorithms }: ListedClient) => ({ keyAlgorithms: [...keyAlgorithms, algorithm] });
    await refuseUnfitWith(deps, tx, { clientId, added });
    if (!(await insertClientKey(tx, clientId, { ...key, createdAt: deps.clock() }))) return 'kid_taken';
    await record(deps, tx, { action: 'client.key_added', clientId, origin, subject: key.kid });
    return 'added';
  });
}

/** False: the client has no such key. */
export function removeClientKey(
  deps: ClientDeps,
  institutionId: InstitutionId,
  { clientId, kid, origin }: OperatorRequest & { readonly kid: string },
): Promise<boolean> {
  return deps.database.transaction(institutionId, async (tx) => {
    const removed = await deleteClientKey(tx, clientId, kid);
    if (removed) await record(deps, tx, { action: 'client.key_removed', clientId, origin, subject: kid });
    return removed;
  });
}

/** Registers a certificate by which the client authenticates (RFC 8705 section 2.2). */
export function addClientCertificate(
  deps: ClientDeps,
  institutionId: InstitutionId,
  { clientId, certificate, origin }: OperatorRequest & { readonly certificate: ClientCertificate },
): Promise<'added' | 'no_such_client' | 'known'> {
  const { thumbprint } = certificate;
  return deps.database.transaction(institutionId, async (tx) => {
    if (!(await lockClient(tx, clientId))) return 'no_such_client';
    await refuseUnfitWith(deps, tx, { clientId, added: () => ({ certificateThumbprints: [thumbprint] }) });
    const createdAt = deps.clock();
    if (!(await insertClientCertificate(tx, clientId, { ...certificate, createdAt }))) return 'known';
    await record(deps, tx, { action: 'client.certificate_added', clientId, origin, subject: thumbprint });
    return 'added';
  });
}

/** False: the client has no such certificate. */
export function removeClientCertificate(
  deps: ClientDeps,
  institutionId: InstitutionId,
  { clientId, thumbprint, origin }: OperatorRequest & { readonly thumbprint: string },
): Promise<boolean> {
  return deps.database.transaction(institutionId, async (tx) => {
    const removed = await deleteClientCertificate(tx, clientId, thumbprint);
    const entry = { action: 'client.certificate_removed', clientId, origin, subject: thumbprint } as const;
    if (removed) await record(deps, tx, entry);
    return removed;
  });
}

function hasCredentials({ secrets, kids, certificateThumbprints }: ListedClient): boolean {
  return secrets + kids.length + certificateThumbprints.length > 0;
}

function record(
  { clock }: ClientDeps,
  tx: Transaction,
  entry: Omit<AuditEntry, 'outcome'> & OperatorRequest,
): Promise<void> {
  return appendAudit(tx, { ...entry, outcome: 'succeeded' }, clock());
}

async function selectClient({ clock }: ClientDeps, tx: Transaction, clientId: string) {
  const all = await selectClients(tx, clock());
  return all.find((client) => client.clientId === clientId);
}

/** Problem `invalid_request` if the client is unfit with what is to be added. */
async function refuseUnfitWith(
  deps: ClientDeps,
  tx: Transaction,
  {
    clientId,
    added,
  }: { readonly clientId: string; readonly added: (before: ListedClient) => Partial<ListedClient> },
): Promise<void> {
  const client = await selectClient(deps, tx, clientId);
  if (client !== undefined) refuseUnfit({ ...client, ...added(client) });
}

function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

async function saveSecret(
  { vault, clock }: ClientDeps,
  tx: Transaction,
  { clientId, slot, secret }: { readonly clientId: string; readonly slot: number; readonly secret: string },
): Promise<void> {
  const secretHash = vault.hash(clientSecretPurpose, secret);
  await insertClientSecret(tx, clientId, { slot, secretHash, createdAt: clock() });
}
