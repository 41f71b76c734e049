import { Buffer } from 'node:buffer';
import { DecryptionError, type Vault } from './vault.ts';

/** A document that travels in a page or a cookie, and that no one but this service can read or write. */
interface Expiring {
  readonly kind: string;
  readonly expiresAtMillis: number;
}

const longestText = 16_384;

export function sealText<Sealed extends Expiring>(vault: Vault, purpose: string, sealed: Sealed): string {
  return Buffer.from(vault.seal(purpose, Buffer.from(JSON.stringify(sealed)))).toString('base64url');
}

/** Undefined for a text that is none of ours, of another kind, or that has expired. */
export function openText<Sealed extends Expiring>(
  vault: Vault,
  purpose: string,
  { text, kind, nowMillis }: { readonly text: string; readonly kind: string; readonly nowMillis: number },
): Sealed | undefined {
  if (text.length > longestText) return undefined;
  try {
    const sealed = JSON.parse(
      Buffer.from(vault.open(purpose, Buffer.from(text, 'base64url'))).toString(),
    ) as Sealed;
    return sealed.kind === kind && sealed.expiresAtMillis > nowMillis ? sealed : undefined;
  } catch (error) {
    // Too short to hold a nonce and a tag, or not sealed by this service.
    if (error instanceof DecryptionError) return undefined;
    throw error;
  }
}
