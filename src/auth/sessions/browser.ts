import { randomBytes } from 'node:crypto';
import type { Origin } from '../../events/index.ts';
import type { CallerFacts } from '../../shared/seams.ts';
import type { InstitutionId } from '../../storage/index.ts';
import type { Vault } from '../keys/vault.ts';

/** A member's browser at our pages. */
export interface Browser {
  /** The cookie that ties pages to the browser, and by which a member's browser is known; undefined on its first visit. */
  readonly secret: string | undefined;
  /** The cookie of the session at an institution. */
  readonly sessionSecret: (institutionId: InstitutionId) => string | undefined;
  readonly userAgent: string | undefined;
  readonly origin: Origin;
  /** Called for the log with the client of the page, and with the member of the session. */
  readonly recognize?: ((facts: CallerFacts) => void) | undefined;
}

/** Cookies that a response sets; null deletes the session's. */
export interface NewCookies {
  readonly browser?: string | undefined;
  readonly session?: { readonly institutionId: InstitutionId; readonly secret: string | null };
}

export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

export function browserHash(vault: Vault, secret: string): string {
  return vault.hash('browser', secret).toString('base64url');
}

export function sessionHash(vault: Vault, secret: string): Buffer {
  return vault.hash('member session', secret);
}
