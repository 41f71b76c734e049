import type { Database, InstitutionId } from '../../storage/index.ts';
import { importKeys, type VerificationKey } from './keys.ts';
import type { Provider } from './provider.ts';
import { selectByIssuer, selectProvider } from './queries.ts';

/** A provider that is switched on, with its keys ready for use. */
export interface ActiveProvider extends Provider {
  readonly verificationKeys: readonly VerificationKey[];
}

const freshMillis = 1_000;

/** The registered providers that are switched on, as they were at most a second ago. */
export class Providers {
  readonly #database: Database;
  readonly #known = new Map<
    string,
    { readonly readAt: number; readonly provider: Promise<ActiveProvider | undefined> }
  >();

  constructor(database: Database) {
    this.#database = database;
  }

  async find(institutionId: InstitutionId, providerId: string): Promise<ActiveProvider | undefined> {
    const name = `${institutionId} ${providerId}`;
    const known = this.#known.get(name);
    if (known !== undefined && performance.now() - known.readAt < freshMillis) return known.provider;
    const provider = this.#read(institutionId, providerId);
    this.#known.set(name, { readAt: performance.now(), provider });
    provider.catch(() => this.#known.delete(name));
    return provider;
  }

  /**
   * The one that registered this issuer under one of these audiences. None also when several did: what is meant for
   * two institutions at once is for neither.
   */
  async findByIssuer(issuer: string, audiences: readonly string[]): Promise<ActiveProvider | undefined> {
    const [one, another] = await this.#database.directory((db) => selectByIssuer(db, issuer, audiences));
    if (one === undefined || another !== undefined) return undefined;
    return this.find(one.institutionId, one.providerId);
  }

  async #read(institutionId: InstitutionId, providerId: string): Promise<ActiveProvider | undefined> {
    const provider = await this.#database.read(institutionId, (db) =>
      selectProvider(db, institutionId, providerId),
    );
    if (provider?.active !== true) return undefined;
    return { ...provider, verificationKeys: importKeys(provider.keys) };
  }
}
