import type { Directory } from '../../storage/index.ts';
import { selectHashingKey, updateHashingKey } from './hashing-key-queries.ts';
import { selectSigningKeys, updateSealedKey } from './key-queries.ts';
import { sealedFor } from './signing-keys.ts';
import { hashingKeyPurpose, type Vault } from './vault.ts';

/** Seals the signing keys and the hashing key under the vault's key. Returns how many it did, or would without `write`. */
export async function resealKeys(
  db: Directory,
  vault: Vault,
  { write }: { write: boolean },
): Promise<number> {
  let count = 0;
  for (const { kid, sealedPrivateKey } of await selectSigningKeys(db)) {
    const resealed = sealedPrivateKey && vault.reseal(sealedFor(kid), sealedPrivateKey);
    if (!resealed) continue;
    if (write) await updateSealedKey(db, kid, resealed);
    count += 1;
  }
  const hashingKey = await selectHashingKey(db);
  const resealed = hashingKey && vault.reseal(hashingKeyPurpose, hashingKey);
  if (resealed === undefined) return count;
  if (write) await updateHashingKey(db, resealed);
  return count + 1;
}
