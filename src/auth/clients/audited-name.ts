import type { Vault } from '../keys/vault.ts';

/**
 * What the audit keeps of a name that nobody has: it may be a password typed into the wrong field. Alike names, in
 * whichever case, give the same hash, so that one can look for a name that one knows.
 */
export function auditedNameHash(vault: Vault, name: string): Buffer {
  return vault.hash('audited name', name.toLowerCase());
}
