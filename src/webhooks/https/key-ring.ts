import type { InstitutionId } from '../../storage/index.ts';
import { selectKeys } from '../endpoints/endpoint-queries.ts';
import { privateKeyPurpose, secretPurpose, type WebhookDeps } from '../endpoints/endpoints.ts';
import { type OpenedKey, openedKey } from './signature.ts';

const mostOpened = 1_000;

/** The keys of endpoints, opened once: to open one takes ten times as long as to sign with it. */
export class KeyRing {
  readonly #deps: Pick<WebhookDeps, 'database' | 'vault' | 'clock'>;
  /** By public key. */
  readonly #opened = new Map<string, OpenedKey>();

  constructor(deps: Pick<WebhookDeps, 'database' | 'vault' | 'clock'>) {
    this.#deps = deps;
  }

  /** The valid keys, read anew, since they may have been rotated. */
  async of(institutionId: InstitutionId, endpointId: string): Promise<OpenedKey[]> {
    const { database, vault, clock } = this.#deps;
    const keys = await database.read(institutionId, (db) => selectKeys(db, [endpointId], clock()));
    return keys.map(({ publicKey, sealedSecret, sealedPrivateKey }) => {
      const known = this.#opened.get(publicKey);
      if (known !== undefined) return known;
      const opened = openedKey({
        secret: vault.open(secretPurpose, sealedSecret),
        privateKey: vault.open(privateKeyPurpose, sealedPrivateKey),
      });
      if (this.#opened.size >= mostOpened) this.#opened.clear();
      this.#opened.set(publicKey, opened);
      return opened;
    });
  }
}
