import type { Database } from '../../storage/index.ts';
import { insertHashingKey, selectHashingKey, updateHashingKey } from './hashing-key-queries.ts';
import { selectSigningKeys } from './key-queries.ts';
import { sealedFor } from './signing-keys.ts';
import { DecryptionError, hashingKeyOf, hashingKeyPurpose, Vault } from './vault.ts';

export interface KeyEncryptionKeys {
  /** SECRET_KEY: seals and opens. */
  readonly current: Uint8Array;
  /** SECRET_KEY_OTHER: opens. */
  readonly other?: Uint8Array | undefined;
}

/**
 * The vault of this database. The hashing key is that of the database's row. The first process with two keys writes the row, before
 * anything is sealed under the new key: then the oldest signing key shows which of the two is the old one.
 */
export async function openVault(
  database: Database,
  { current, other }: KeyEncryptionKeys,
  { mayWrite = true } = {},
): Promise<Vault> {
  const ring = new Vault(current, { other });
  let sealed = await database.directory(selectHashingKey);
  if (sealed === undefined) {
    if (other === undefined) return ring;
    const hashingKey = hashingKeyOf(await keyInUse(database, { current, other }));
    const vault = new Vault(current, { other, hashingKey });
    if (!mayWrite) return vault;
    const row = vault.sealedHashingKey();
    await database.directory((db) => insertHashingKey(db, row));
    sealed = (await database.directory(selectHashingKey)) ?? row;
  }
  try {
    return new Vault(current, { other, hashingKey: ring.open(hashingKeyPurpose, sealed) });
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    return new Vault(current, { other, isHashingKeyLost: true });
  }
}

/** The key under which the oldest signing key is sealed; the current one without a signing key. */
async function keyInUse(
  database: Database,
  { current, other }: Required<KeyEncryptionKeys>,
): Promise<Uint8Array> {
  const keys = await database.directory(selectSigningKeys);
  const oldest = keys.find(({ sealedPrivateKey }) => sealedPrivateKey !== null);
  if (oldest?.sealedPrivateKey == null || other === undefined) return current;
  try {
    new Vault(other).open(sealedFor(oldest.kid), oldest.sealedPrivateKey);
    return other;
  } catch {
    return current;
  }
}

/** After SECRET_KEY was lost: the stored hashes are of no use any more, and new ones begin under the vault's own key. */
export async function replaceLostHashingKey(database: Database, vault: Vault): Promise<void> {
  if (vault.isHashingKeyLost)
    await database.directory((db) => updateHashingKey(db, vault.sealedHashingKey()));
}

/** Whether the vault opens every signing key of the database that still has its private part. */
export async function opensSigningKeys(database: Database, vault: Vault): Promise<boolean> {
  const keys = await database.directory(selectSigningKeys);
  return keys.every(({ kid, sealedPrivateKey }) => {
    if (sealedPrivateKey === null) return true;
    try {
      vault.open(sealedFor(kid), sealedPrivateKey);
      return true;
    } catch (error) {
      if (error instanceof DecryptionError) return false;
      throw error;
    }
  });
}
