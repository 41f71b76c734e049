import { DecryptionError, type Vault } from '../../auth/index.ts';
import type { Queryable } from '../../storage/index.ts';
import { secretPurpose } from './configure-provider.ts';
import { lockProvider, selectProvider, upsertProvider } from './provider-queries.ts';

/** Seals the client secret at the operators' provider under the vault's key, if only the other key opens it. */
export async function resealProviderSecret(
  tx: Queryable,
  vault: Vault,
  { write }: { readonly write: boolean },
): Promise<{ readonly resealed: number; readonly lost: number }> {
  // Locked, so that a new secret of this moment stays.
  const provider = write ? await lockProvider(tx) : await selectProvider(tx);
  if (!provider?.sealedSecret) return { resealed: 0, lost: 0 };
  try {
    const secret = vault.reseal(secretPurpose, provider.sealedSecret);
    if (!secret) return { resealed: 0, lost: 0 };
    if (write) await upsertProvider(tx, { ...provider, sealedSecret: Buffer.from(secret) });
    return { resealed: 1, lost: 0 };
  } catch (error) {
    if (error instanceof DecryptionError) return { resealed: 0, lost: 1 };
    throw error;
  }
}
