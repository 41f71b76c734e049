import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
  type webcrypto,
} from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { appendAudit, type Origin, ownOrigin, wholeService } from '../../events/index.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import {
  type CellKeyRow,
  deleteCellKeys,
  deleteExpiredCellKeys,
  selectCellKeys,
} from './cell-key-queries.ts';
import {
  deleteSigningKeys,
  insertSigningKey,
  type SigningKeyRow,
  selectSigningKeys,
  wipePrivateKeys,
} from './key-queries.ts';
import { clockSkewMillis, type KeyState, keyState, keyStates, supersededAt } from './key-states.ts';
import type { Vault } from './vault.ts';

/** The `max-age` of the published keys. */
export const jwksMaxAgeSeconds = 300;

/** The time between the publication of a key and its first signature. */
const leadMillis = {
  scheduled: 60 * 60_000,
  soon: 2 * jwksMaxAgeSeconds * 1000,
  /** jose and Nimbus wait 30 s before they fetch the keys again for an unknown kid. */
  now: 60_000,
  compromised: 0,
};
export type Rotation = 'soon' | 'now' | 'compromised';

/** The longest age of the keys in memory. A deleted key is refused within this time. */
const freshMillis = 1_000;
/** Tokens with unknown key ids cause at most twenty reads a second. */
const lookAgainMillis = 50;

/** A key as operators see it. */
export interface ListedKey {
  readonly kid: string;
  readonly state: KeyState;
  readonly createdAt: Date;
  readonly signsFrom: Date;
  readonly hasPrivatePart: boolean;
}

/**
 * ES256 keys, shared by all processes through the database, with sealed private parts. The signing key depends on the keys'
 * times and the clock. All keys that have not expired verify; one of another cell verifies the institutions that came from there.
 */
export class SigningKeys {
  readonly #database: Database;
  readonly #vault: Vault;
  readonly #clock: Clock;
  readonly #rotationMillis: number;
  #rows: readonly SigningKeyRow[] = [];
  /** Of the cells that institutions came from. */
  #cellKeys: readonly CellKeyRow[] = [];
  /** The public keys by kid. Each is imported once and kept over reloads. */
  readonly #publicKeys = new Map<string, KeyObject>();
  readonly #privateKeys = new Map<string, KeyObject>();
  #loading: Promise<void> | undefined;
  #loadingAgain: Promise<void> | undefined;
  #loadedAt = Number.NEGATIVE_INFINITY;

  constructor(
    database: Database,
    vault: Vault,
    clock: Clock,
    { rotationDays }: { readonly rotationDays: number },
  ) {
    this.#database = database;
    this.#vault = vault;
    this.#clock = clock;
    this.#rotationMillis = rotationDays * 24 * 60 * 60_000;
  }

  /** The signing key of this moment. */
  async signer(): Promise<{ readonly kid: string; readonly privateKey: KeyObject }> {
    await this.#fresh();
    const now = this.#clock();
    // After a clock went back behind all keys, the oldest one signs.
    const row = this.#rows.find((one) => keyState(one, this.#rows, now) === 'signing') ?? this.#rows[0];
    if (row === undefined) throw new Error('auth: there is no signing key');
    return { kid: row.kid, privateKey: this.#privateKey(row) };
  }

  /** Also finds a key that another process has just made. Undefined for an unknown or expired key. */
  async find(kid: string): Promise<KeyObject | undefined> {
    await this.#fresh();
    const known = this.#unexpired(kid);
    if (known !== undefined) return known;
    await this.#loadAgain();
    return this.#unexpired(kid);
  }

  /** Whether fresh memory has the key, unexpired. If false, `find` may still read it. */
  holds(kid: string): boolean {
    return this.#isFresh() && this.#unexpired(kid) !== undefined;
  }

  /** Whether the key may sign for this institution: one of another cell came with the institutions that moved. */
  signsFor(kid: string, institutionId: InstitutionId): boolean {
    return (
      this.#rows.some((one) => one.kid === kid) ||
      this.#cellKeys.some((one) => one.kid === kid && one.institutionId === institutionId)
    );
  }

  /**
   * The public keys as JWKs (RFC 7517), for verifiers of our tokens. Of one institution: those of this cell, and of the cells that it came
   * from; else also those of the cells that any institution came from.
   */
  async published(institutionId?: InstitutionId): Promise<object[]> {
    await this.#fresh();
    const states = keyStates(this.#rows, this.#clock());
    const own = this.#rows.filter((row) => states.get(row) !== 'expired');
    const came = this.#validCellKeys().filter(
      (one) => institutionId === undefined || one.institutionId === institutionId,
    );
    const keys = new Map([...came, ...own].map(({ kid, publicJwk }) => [kid, publicJwk]));
    return [...keys.values()];
  }

  async list(): Promise<ListedKey[]> {
    await this.#loadAgain();
    return [...keyStates(this.#rows, this.#clock())].map(([row, state]) => ({
      kid: row.kid,
      state,
      createdAt: row.createdAt,
      signsFrom: row.signsFrom,
      hasPrivatePart: row.sealedPrivateKey !== null,
    }));
  }

  /**
   * Makes the next signing key. `soon`: it signs after every verifier's copy of the keys has expired. `now`: after verifiers that look again
   * for an unknown kid could do so. `compromised`: at once, and all other keys are deleted, which ends their tokens.
   */
  async rotate(how: Rotation, origin: Origin): Promise<void> {
    await this.#loadAgain();
    const made = await this.#make(new Date(this.#clock().getTime() + leadMillis[how]), origin, how);
    if (how === 'compromised') {
      const others = this.#rows.filter((row) => row.kid !== made);
      await this.#database.transaction(wholeService, async (tx) => {
        const kids = others.map(({ kid }) => kid);
        await deleteSigningKeys(tx, kids);
        await deleteCellKeys(tx);
        for (const subject of kids) {
          const entry = { action: 'key.retired', outcome: 'succeeded', reason: how } as const;
          await appendAudit(tx, { ...entry, subject, origin }, this.#clock());
        }
      });
    }
    await this.#loadAgain();
  }

  /** Publishes the next key in time, wipes private parts that are no longer needed, and deletes expired keys. Runs periodically. */
  async maintain(): Promise<void> {
    await this.#loadAgain();
    const now = this.#clock().getTime();
    const due = (this.#rows.at(-1)?.signsFrom.getTime() ?? now) + this.#rotationMillis;
    if (now >= due - leadMillis.scheduled) {
      await this.#make(new Date(Math.max(due, now + leadMillis.scheduled)), ownOrigin(), 'scheduled');
    }
    const states = keyStates(this.#rows, new Date(now));
    const expired = this.#rows.filter((row) => states.get(row) === 'expired');
    // A process with a late clock may still sign with a key that has just retired.
    const wipeable = this.#rows.filter(
      (row) => row.sealedPrivateKey !== null && now >= supersededAt(row, this.#rows) + clockSkewMillis,
    );
    const kidsOf = (rows: readonly SigningKeyRow[]) => rows.map(({ kid }) => kid);
    if (wipeable.length > 0) {
      await this.#database.directory((db) => wipePrivateKeys(db, kidsOf(wipeable)));
    }
    if (expired.length > 0) {
      await this.#database.directory((db) => deleteSigningKeys(db, kidsOf(expired)));
    }
    if (this.#cellKeys.length > 0) {
      await this.#database.directory((db) => deleteExpiredCellKeys(db, new Date(now)));
    }
  }

  #unexpired(kid: string): KeyObject | undefined {
    const own = this.#rows.find((one) => one.kid === kid);
    if (own !== undefined && keyState(own, this.#rows, this.#clock()) === 'expired') return undefined;
    const row = own ?? this.#validCellKeys().find((one) => one.kid === kid);
    if (row === undefined) return undefined;
    return remember(this.#publicKeys, kid, () =>
      createPublicKey({ key: row.publicJwk as webcrypto.JsonWebKey, format: 'jwk' }),
    );
  }

  #validCellKeys(): readonly CellKeyRow[] {
    if (this.#cellKeys.length === 0) return this.#cellKeys;
    const now = this.#clock();
    return this.#cellKeys.filter(({ verifiesUntil }) => verifiesUntil > now);
  }

  #privateKey({ kid, sealedPrivateKey }: SigningKeyRow): KeyObject {
    return remember(this.#privateKeys, kid, () => {
      if (sealedPrivateKey === null) throw new Error('auth: the private part of the signing key was wiped');
      const der = this.#vault.open(sealedFor(kid), sealedPrivateKey);
      return createPrivateKey({ key: Buffer.from(der), format: 'der', type: 'pkcs8' });
    });
  }

  async #fresh(): Promise<void> {
    if (!this.#isFresh()) await this.#load();
  }

  #isFresh(): boolean {
    return performance.now() - this.#loadedAt < freshMillis;
  }

  #load(): Promise<void> {
    this.#loading ??= this.#read().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  /** A read that begins after this call, and so sees every key that exists now. Simultaneous callers share it. */
  #loadAgain(): Promise<void> {
    this.#loadingAgain ??= (async () => {
      await this.#loading?.catch(() => {});
      await sleep(Math.max(0, this.#loadedAt + lookAgainMillis - performance.now()));
      this.#loadingAgain = undefined;
      await this.#load();
    })();
    return this.#loadingAgain;
  }

  async #read(): Promise<void> {
    const startedAt = performance.now();
    [this.#rows, this.#cellKeys] = await this.#database.directory((db) =>
      Promise.all([selectSigningKeys(db), selectCellKeys(db)]),
    );
    if (this.#rows.length === 0) {
      await this.#make(this.#clock(), ownOrigin(), 'first');
      this.#rows = await this.#database.directory(selectSigningKeys);
    }
    const whole = this.#rows.filter((row) => row.sealedPrivateKey !== null);
    forgetOthers(this.#publicKeys, [...this.#rows, ...this.#cellKeys]);
    forgetOthers(this.#privateKeys, whole);
    this.#loadedAt = startedAt;
  }

  /** Inserts the next generation, unless another process has inserted it first. */
  async #make(signsFrom: Date, origin: Origin, reason: keyof typeof leadMillis | 'first'): Promise<string> {
    const kid = randomUUID();
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const der = privateKey.export({ format: 'der', type: 'pkcs8' });
    const createdAt = this.#clock();
    await this.#database.transaction(wholeService, async (tx) => {
      const made = await insertSigningKey(tx, {
        kid,
        publicJwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' },
        sealedPrivateKey: this.#vault.seal(sealedFor(kid), der),
        generation: (this.#rows.at(-1)?.generation ?? 0) + 1,
        signsFrom: signsFrom > createdAt ? signsFrom : createdAt,
        createdAt,
      });
      if (!made) return;
      const entry = { action: 'key.created', outcome: 'succeeded', reason, subject: kid, origin } as const;
      await appendAudit(tx, entry, createdAt);
    });
    return kid;
  }
}

function remember(keys: Map<string, KeyObject>, kid: string, make: () => KeyObject): KeyObject {
  let key = keys.get(kid);
  if (key === undefined) {
    key = make();
    keys.set(kid, key);
  }
  return key;
}

function forgetOthers(keys: Map<string, KeyObject>, rows: readonly { readonly kid: string }[]): void {
  const kids = new Set(rows.map(({ kid }) => kid));
  for (const kid of keys.keys()) if (!kids.has(kid)) keys.delete(kid);
}

export function sealedFor(kid: string): string {
  return `signing key ${kid}`;
}
