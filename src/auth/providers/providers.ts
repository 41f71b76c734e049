import type { Database, InstitutionId } from '../../storage/index.ts';
import { importKeys, type VerificationKey } from './keys.ts';
import type { Provider } from './provider.ts';
import { selectByIssuer, selectProvider } from './queries.ts';

/** A provider that is switched on, with its keys imported. */
export interface ActiveProvider extends Provider {
  readonly verificationKeys: readonly VerificationKey[];
}

const freshMillis = 1_000;

/** The registered providers that are switched on, at most a second old. */
export class Providers {
  readonly #database: Database;
  readonly #cache = new Map<
    string,
    { readonly readAt: number; readonly provider: Promise<ActiveProvider | undefined> }
  >();

  constructor(database: Database) {
    this.#database = database;
  }

  async find(institutionId: InstitutionId, providerId: string): Promise<ActiveProvider | undefined> {
    const key = `${institutionId} ${providerId}`;
    const cached = this.#cache.get(key);
    if (cached !== undefined && performance.now() - cached.readAt < freshMillis) return cached.provider;
    const provider = this.#read(institutionId, providerId);
    this.#cache.set(key, { readAt: performance.now(), provider });
    provider.catch(() => this.#cache.delete(key));
    return provider;
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
