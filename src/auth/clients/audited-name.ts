import type { Vault } from '../keys/vault.ts';

/**
 * A hash for the audit of an unknown name, which may be a password in the wrong field. Case is ignored, so that an operator
 * can search for a known name.
 */
export function auditedNameHash(vault: Vault, name: string): Buffer {
  return vault.hash('audited name', name.toLowerCase());
}
