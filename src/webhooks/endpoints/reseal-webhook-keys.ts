import { DecryptionError, type Vault } from '../../auth/index.ts';
import type { Queryable } from '../../storage/index.ts';
import { type KeyPlace, type PlacedKey, selectKeysAfter, updateSealedKey } from './endpoint-queries.ts';
import { privateKeyPurpose, secretPurpose } from './endpoints.ts';

export const firstKeyPlace: KeyPlace = { endpointId: '00000000-0000-0000-0000-000000000000', slot: 0 };
const batchLength = 100;

/** Seals the next hundred keys under the vault's key. `after` is undefined behind the last one. */
export async function resealWebhookKeys(
  tx: Queryable,
  vault: Vault,
  { after, write }: { readonly after: KeyPlace; readonly write: boolean },
): Promise<{ readonly resealed: number; readonly lost: number; readonly after: KeyPlace | undefined }> {
  const keys = await selectKeysAfter(tx, after, batchLength);
  let [resealed, lost] = [0, 0];
  for (const key of keys) {
    const anew = resealedKey(vault, key);
    if (anew === 'lost') lost += 1;
    else if (anew !== undefined) {
      resealed += 1;
      if (write) await updateSealedKey(tx, { ...key, ...anew }, key.sealedSecret);
    }
  }
  return { resealed, lost, after: keys.length < batchLength ? undefined : keys.at(-1) };
}

/** Both parts sealed anew; undefined if the vault's key opens them; `lost` if none does. One transaction sealed both. */
function resealedKey(vault: Vault, key: PlacedKey): Omit<PlacedKey, keyof KeyPlace> | 'lost' | undefined {
  try {
    const sealedSecret = vault.reseal(secretPurpose, key.sealedSecret);
    const sealedPrivateKey = vault.reseal(privateKeyPurpose, key.sealedPrivateKey);
    return sealedSecret && sealedPrivateKey && { sealedSecret, sealedPrivateKey };
  } catch (error) {
    if (error instanceof DecryptionError) return 'lost';
    throw error;
  }
}
