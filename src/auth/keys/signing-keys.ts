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
import type { Clock, Database } from '../../storage/index.ts';
import {
  deleteSigningKeys,
  insertSigningKey,
  type SigningKeyRow,
  selectSigningKeys,
  wipePrivateKeys,
} from './key-queries.ts';
import { clockSkewMillis, type KeyState, keyState, keyStates, supersededAt } from './key-states.ts';
import type { Vault } from './vault.ts';

/** How long verifiers may keep the published keys: what `Cache-Control` says of them. */
export const jwksMaxAgeSeconds = 300;

/** A rotation is known to all long before it happens. By command it may be had sooner. */
const leadMillis = {
  scheduled: 60 * 60_000,
  soon: 2 * jwksMaxAgeSeconds * 1000,
  /** Longer than the cool-down of 30 s in which jose and Nimbus do not look again for a kid that they do not know. */
  now: 60_000,
  compromised: 0,
};
export type Rotation = 'soon' | 'now' | 'compromised';

/** What this process knows of the keys is never older: a key that was thrown away is refused as soon. */
const freshMillis = 1_000;
/** Tokens with made-up key ids cause no more than twenty look-ups a second. */
const lookAgainMillis = 50;

/** A key as the operator sees it. */
export interface ListedKey {
  readonly kid: string;
  readonly state: KeyState;
  readonly createdAt: Date;
  readonly signsFrom: Date;
  readonly hasPrivatePart: boolean;
}

/**
 * ES256 keys, shared through the database by all processes, the private parts sealed. Which one signs follows from
 * their moments and the clock; all that are not dead verify.
 */
export class SigningKeys {
  readonly #database: Database;
  readonly #vault: Vault;
  readonly #clock: Clock;
  readonly #rotationMillis: number;
  #rows: readonly SigningKeyRow[] = [];
  /** By kid. Made once: a reload brings the same keys again. */
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

  /** The one that signs now. */
  async signer(): Promise<{ readonly kid: string; readonly privateKey: KeyObject }> {
    await this.#fresh();
    const now = this.#clock();
    // None signs yet when a clock went back behind all of them: the oldest will do.
    const row = this.#rows.find((one) => keyState(one, this.#rows, now) === 'signing') ?? this.#rows[0];
    if (row === undefined) throw new Error('auth: there is no signing key');
    return { kid: row.kid, privateKey: this.#privateKey(row) };
  }

  /** The public key of this id, unless it is dead. One that another process has just made is found. */
  async find(kid: string): Promise<KeyObject | undefined> {
    await this.#fresh();
    const known = this.#alive(kid);
    if (known !== undefined) return known;
    await this.#loadAgain();
    return this.#alive(kid);
  }

  /** Whether the key of this id is not dead, as far as is known and fresh enough to go by; else `find` has to look. */
  holds(kid: string): boolean {
    return this.#isFresh() && this.#alive(kid) !== undefined;
  }

  /** The public keys as JWKs (RFC 7517), for whoever verifies our tokens. */
  async published(): Promise<object[]> {
    await this.#fresh();
    const states = keyStates(this.#rows, this.#clock());
    return this.#rows.filter((row) => states.get(row) !== 'dead').map((row) => row.publicJwk);
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
   * By command. `soon`: when every verifier's copy of the published keys has run out; `now`: when every verifier
   * that looks again for an unknown kid may have done so; `compromised`: at once, and all other keys are thrown away with every token they signed.
   */
  async rotate(how: Rotation, origin: Origin): Promise<void> {
    await this.#loadAgain();
    const made = await this.#make(new Date(this.#clock().getTime() + leadMillis[how]), origin, how);
    if (how === 'compromised') {
      const others = this.#rows.filter((row) => row.kid !== made);
      await this.#database.transaction(wholeService, async (tx) => {
        const kids = others.map(({ kid }) => kid);
        await deleteSigningKeys(tx, kids);
        for (const subject of kids) {
          const entry = {
            action: 'key.retired',
            outcome: 'succeeded',
            reason: how,
            subject,
            origin,
          } as const;
          await appendAudit(tx, entry, this.#clock());
        }
      });
    }
    await this.#loadAgain();
  }

  /** Now and then: publishes the next key in time, wipes private parts no longer needed, deletes dead keys. */
  async keep(): Promise<void> {
    await this.#loadAgain();
    const now = this.#clock().getTime();
    const due = (this.#rows.at(-1)?.signsFrom.getTime() ?? now) + this.#rotationMillis;
    if (now >= due - leadMillis.scheduled) {
      await this.#make(new Date(Math.max(due, now + leadMillis.scheduled)), ownOrigin(), 'scheduled');
    }
    const states = keyStates(this.#rows, new Date(now));
    const dead = this.#rows.filter((row) => states.get(row) === 'dead');
    // A process whose clock is behind may still sign with one that is just retired.
    const spent = this.#rows.filter(
      (row) => row.sealedPrivateKey !== null && now >= supersededAt(row, this.#rows) + clockSkewMillis,
    );
    if (spent.length > 0) {
      await this.#database.directory((db) =>
        wipePrivateKeys(
          db,
          spent.map(({ kid }) => kid),
        ),
      );
    }
    if (dead.length > 0) {
      await this.#database.directory((db) =>
        deleteSigningKeys(
          db,
          dead.map(({ kid }) => kid),
        ),
      );
    }
  }

  #alive(kid: string): KeyObject | undefined {
    const row = this.#rows.find((one) => one.kid === kid);
    if (row === undefined || keyState(row, this.#rows, this.#clock()) === 'dead') return undefined;
    return remember(this.#publicKeys, kid, () =>
      createPublicKey({ key: row.publicJwk as webcrypto.JsonWebKey, format: 'jwk' }),
    );
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

  /** A look that began after this call, so that it sees what was there then; whoever waits meanwhile shares it. */
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
    this.#rows = await this.#database.directory(selectSigningKeys);
    if (this.#rows.length === 0) {
      await this.#make(this.#clock(), ownOrigin(), 'first');
      this.#rows = await this.#database.directory(selectSigningKeys);
    }
    const whole = this.#rows.filter((row) => row.sealedPrivateKey !== null);
    forgetOthers(this.#publicKeys, this.#rows);
    forgetOthers(this.#privateKeys, whole);
    this.#loadedAt = startedAt;
  }

  /** The next generation. When another process makes it at the same moment, that one's is it. */
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

function forgetOthers(keys: Map<string, KeyObject>, rows: readonly SigningKeyRow[]): void {
  const kids = new Set(rows.map(({ kid }) => kid));
  for (const kid of keys.keys()) if (!kids.has(kid)) keys.delete(kid);
}

function sealedFor(kid: string): string {
  return `signing key ${kid}`;
}
