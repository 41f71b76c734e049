import { DecryptionError } from '../auth/index.ts';
import { listInstitutions } from '../institutions/index.ts';
import type { Config } from './config.ts';
import type { AppContext } from './context.ts';

/** The service must not serve as configured. The message is one sentence for the person at the terminal. */
export class ServiceStartError extends Error {
  override readonly name = 'ServiceStartError';
}

/**
 * Throws ServiceStartError if SECRET_KEY does not open the signing keys of this database. With another key no token can be
 * signed and no client secret matches, and a command would seal values that the running service cannot open.
 */
export async function refuseOtherSecretKey({ auth }: AppContext): Promise<void> {
  const other = (secrets: string) =>
    new ServiceStartError(
      `SECRET_KEY is not the one that this database was used with: its ${secrets} cannot be opened. Set the one before; if it is lost, see "Changing SECRET_KEY" in docs/security.md.`,
    );
  await auth.keys.signer().catch((error) => {
    if (error instanceof DecryptionError) throw other('signing keys');
  });
  if (auth.vault.isHashingKeyLost) throw other('key of stored hashes');
}

/** Throws ServiceStartError if a demo, whose credentials are public, would be served beyond this machine. */
export async function refusePublicDemo(config: Config, { database }: AppContext): Promise<void> {
  if (config.allowDemoAnywhere) return;
  const loopback = ['127.0.0.1', '::1', 'localhost'].includes(config.host);
  if (loopback && config.databaseUrl === undefined) return;
  const institutions = await database.directory(listInstitutions);
  if (institutions.some((institution) => institution.demo)) {
    throw new ServiceStartError(
      'The database holds the demo institution, whose credentials are public: it is not served on a public address or from an external database. Set ALLOW_DEMO_ANYWHERE=true if you mean it.',
    );
  }
}
