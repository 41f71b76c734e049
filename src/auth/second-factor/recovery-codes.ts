import { randomBytes } from 'node:crypto';
import { base32, fromTyped, readableAlphabet } from '../../shared/text/base32.ts';
import type { InstitutionId } from '../../storage/index.ts';
import type { Vault } from '../keys/vault.ts';

const recoveryCodeCount = 10;
/** 120 random bits, so that a fast hash is enough (ASVS 5.0, 6.5.2). */
const bytes = 15;

/** New codes, in groups of six for people. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodeCount }, () =>
    base32(randomBytes(bytes), readableAlphabet).replaceAll(/.{6}(?=.)/g, '$&-'),
  );
}

export function recoveryCodeHash(
  vault: Vault,
  { institutionId, userKey }: { readonly institutionId: InstitutionId; readonly userKey: bigint },
  typed: string,
): Buffer {
  return vault.hash('recovery code', `${institutionId}\0${userKey}\0${fromTyped(typed)}`);
}
