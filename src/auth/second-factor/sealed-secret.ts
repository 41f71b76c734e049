import type { Queryable } from '../../storage/index.ts';
import { DecryptionError, type Vault } from '../keys/vault.ts';
import { selectSecretsAfter, updateSealedSecret } from './authenticator-queries.ts';

/** The purpose has the id, so that the secret of one member opens for no other. */
export function sealSecret(vault: Vault, authenticatorId: string, secret: Uint8Array): Uint8Array {
  return vault.seal(purposeOf(authenticatorId), secret);
}

/** Undefined if its SECRET_KEY was lost. */
export function openSecret(
  vault: Vault,
  { authenticatorId, sealedSecret }: { readonly authenticatorId: string; readonly sealedSecret: Uint8Array },
): Uint8Array | undefined {
  return unlessLost(() => vault.open(purposeOf(authenticatorId), sealedSecret));
}

/** Before the first member. */
export const firstSecretPlace = -1n;
const batchLength = 100;

/** Seals the next hundred secrets under the vault's key. `after` is undefined behind the last one. */
export async function resealAuthenticators(
  tx: Queryable,
  vault: Vault,
  { after, write }: { readonly after: bigint; readonly write: boolean },
): Promise<{ readonly resealed: number; readonly lost: number; readonly after: bigint | undefined }> {
  const secrets = await selectSecretsAfter(tx, after, batchLength);
  let [resealed, lost] = [0, 0];
  for (const one of secrets) {
    const anew = unlessLost(
      () => vault.reseal(purposeOf(one.authenticatorId), one.sealedSecret) ?? 'current',
    );
    if (anew === undefined) lost += 1;
    else if (anew !== 'current') {
      resealed += 1;
      if (write) await updateSealedSecret(tx, { ...one, sealedSecret: anew });
    }
  }
  return { resealed, lost, after: secrets.length < batchLength ? undefined : secrets.at(-1)?.userKey };
}

function purposeOf(authenticatorId: string): string {
  return `authenticator ${authenticatorId}`;
}

function unlessLost<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof DecryptionError) return undefined;
    throw error;
  }
}
