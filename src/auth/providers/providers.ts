import type { ValidatedMemory } from '../../memory/index.ts';
import type { Database, InstitutionId } from '../../storage/index.ts';
import { importKeys, type VerificationKey } from './keys.ts';
import type { Provider } from './provider.ts';
import { selectByIssuer, selectProvider } from './queries.ts';

/** A provider that is switched on, with its keys imported. */
export interface ActiveProvider extends Provider {
  readonly verificationKeys: readonly VerificationKey[];
}

/** The measured size in memory of a provider with two imported keys. */
const bytesOfProvider = 8_000;

/** The registered providers that are switched on. */
export class Providers {
  readonly #database: Database;
  readonly #memory: ValidatedMemory;

  constructor(database: Database, memory: ValidatedMemory) {
    this.#database = database;
    this.#memory = memory;
  }

  find(institutionId: InstitutionId, providerId: string): Promise<ActiveProvider | undefined> {
    const key = `provider ${institutionId} ${providerId}`;
    return this.#memory.read({ key, institutionId, bytes: bytesOfProvider }, () =>
      this.#read(institutionId, providerId),
    );
  }

  /**
   * The provider registered with this issuer and one of these audiences. Undefined if several match: a token for two institutions
   * is accepted by neither.
   */
  async findByIssuer(issuer: string, audiences: readonly string[]): Promise<ActiveProvider | undefined> {
    const [one, another] = await this.#database.directory((db) => selectByIssuer(db, issuer, audiences));
    if (one === undefined || another !== undefined) return undefined;
    return this.find(one.institutionId, one.providerId);
  }

  async #read(institutionId: InstitutionId, providerId: string): Promise<ActiveProvider | undefined> {
    const provider = await this.#database.read(institutionId, (db) => selectProvider(db, providerId));
    if (provider?.active !== true) return undefined;
    return { ...provider, verificationKeys: importKeys(provider.keys) };
  }
}
