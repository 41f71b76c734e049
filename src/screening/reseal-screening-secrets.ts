import { DecryptionError, type Vault } from '../auth/index.ts';
import type { Queryable } from '../storage/index.ts';
import { secretPurpose } from './change-hook.ts';
import { lockHook, selectHook, updateSecrets } from './hook-queries.ts';

/** Seals the secrets of an institution's screening under the vault's key, if only the other key opens them. */
export async function resealScreeningSecrets(
  tx: Queryable,
  vault: Vault,
  { write }: { readonly write: boolean },
): Promise<{ readonly resealed: number; readonly lost: number }> {
  // Locked, so that a rotation at the same time keeps its new secret.
  const hook = write ? await lockHook(tx) : await selectHook(tx);
  if (hook === undefined) return { resealed: 0, lost: 0 };
  try {
    const secret = vault.reseal(secretPurpose, hook.sealedSecret);
    const previous = hook.sealedPrevious && vault.reseal(secretPurpose, hook.sealedPrevious);
    if (!secret && !previous) return { resealed: 0, lost: 0 };
    if (write) {
      await updateSecrets(tx, {
        sealedSecret: secret ?? hook.sealedSecret,
        sealedPrevious: previous ?? hook.sealedPrevious,
        previousUntil: hook.previousUntil,
      });
    }
    return { resealed: 1, lost: 0 };
  } catch (error) {
    if (error instanceof DecryptionError) return { resealed: 0, lost: 1 };
    throw error;
  }
}
