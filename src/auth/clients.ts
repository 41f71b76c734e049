import { randomBytes } from 'node:crypto';
import type { InstitutionId } from '../storage/index.ts';
import { clientSecretPurpose } from './client-authentication.ts';
import type { AuthDeps } from './deps.ts';
import { insertClient, insertClientId } from './queries.ts';
import type { Scope } from './scopes.ts';

export interface NewClient {
  readonly institutionId: InstitutionId;
  readonly clientId: string;
  readonly name: string;
  /** Left out: 256 random bits. */
  readonly secret?: string;
  readonly scopes: readonly Scope[];
  readonly grants: readonly ('client_credentials' | 'password')[];
  readonly tokenLifetimeSeconds?: number;
}

/** Answers the secret, which is kept only as a keyed hash; undefined when the client id is taken. */
export async function createClient(
  deps: Pick<AuthDeps, 'database' | 'clock' | 'vault'>,
  client: NewClient,
): Promise<{ readonly secret: string } | undefined> {
  const secret = client.secret ?? randomBytes(32).toString('base64url');
  return deps.database.transaction(client.institutionId, async (tx) => {
    if (!(await insertClientId(tx, client.clientId, client.institutionId))) return undefined;
    await insertClient(tx, client.institutionId, {
      clientId: client.clientId,
      name: client.name,
      scopes: client.scopes,
      grants: client.grants,
      tokenLifetimeSeconds: client.tokenLifetimeSeconds ?? null,
      secretHash: deps.vault.hash(clientSecretPurpose, secret),
      createdAt: deps.clock(),
    });
    return { secret };
  });
}
