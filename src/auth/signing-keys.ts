import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
  type webcrypto,
} from 'node:crypto';
import type { Clock, Database } from '../storage/index.ts';
import { insertSigningKey, selectSigningKeys } from './queries.ts';
import type { Vault } from './vault.ts';

export interface SigningKey {
  readonly kid: string;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const reloadPauseMillis = 1_000;

/**
 * ES256 keys, shared through the database by all processes, the private parts sealed. The newest signs, all verify.
 */
export class SigningKeys {
  readonly #database: Database;
  readonly #vault: Vault;
  readonly #clock: Clock;
  #keys: readonly SigningKey[] = [];
  #loading: Promise<void> | undefined;
  #loadedAt = Number.NEGATIVE_INFINITY;

  constructor(database: Database, vault: Vault, clock: Clock) {
    this.#database = database;
    this.#vault = vault;
    this.#clock = clock;
  }

  async newest(): Promise<SigningKey> {
    let key = this.#keys[0];
    if (key === undefined) {
      await this.#load();
      key = this.#keys[0];
    }
    if (key === undefined) throw new Error('auth: there is no signing key');
    return key;
  }

  /** A key that another process made is found by looking again, but not more than once a second. */
  async find(kid: string): Promise<SigningKey | undefined> {
    const known = this.#keys.find((key) => key.kid === kid);
    if (known !== undefined) return known;
    if (performance.now() - this.#loadedAt < reloadPauseMillis) return undefined;
    await this.#load();
    return this.#keys.find((key) => key.kid === kid);
  }

  #load(): Promise<void> {
    this.#loading ??= this.#read().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async #read(): Promise<void> {
    let rows = await this.#database.directory(selectSigningKeys);
    if (rows.length === 0) {
      // Two processes that start together may each make one: both verify, the newer signs.
      await this.#make();
      rows = await this.#database.directory(selectSigningKeys);
    }
    this.#keys = rows.map((row) => ({
      kid: row.kid,
      publicKey: createPublicKey({ key: row.publicJwk as webcrypto.JsonWebKey, format: 'jwk' }),
      privateKey: createPrivateKey({
        key: Buffer.from(this.#vault.open(sealedFor(row.kid), row.sealedPrivateKey)),
        format: 'der',
        type: 'pkcs8',
      }),
    }));
    this.#loadedAt = performance.now();
  }

  async #make(): Promise<void> {
    const kid = randomUUID();
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const der = privateKey.export({ format: 'der', type: 'pkcs8' });
    await this.#database.directory((db) =>
      insertSigningKey(db, {
        kid,
        publicJwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' },
        sealedPrivateKey: this.#vault.seal(sealedFor(kid), der),
        createdAt: this.#clock(),
      }),
    );
  }
}

function sealedFor(kid: string): string {
  return `signing key ${kid}`;
}
