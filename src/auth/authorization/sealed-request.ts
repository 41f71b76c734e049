import { Buffer } from 'node:buffer';
import type { InstitutionId } from '../../storage/index.ts';
import { DecryptionError, type Vault } from '../keys/vault.ts';
import type { AuthorizationRequest } from './authorization-request.ts';

/**
 * `pushed` is the request_uri that an app got (RFC 9126): anyone may open it once, soon. `page` is the hidden field of a page: it belongs to
 * the browser that opened it, so that no other site can send the page in a member's name.
 */
export type SealedRequest =
  | { readonly kind: 'pushed'; readonly request: AuthorizationRequest; readonly expiresAtMillis: number }
  | {
      readonly kind: 'page';
      readonly request: AuthorizationRequest;
      readonly expiresAtMillis: number;
      /** Hash of the browser's cookie. */
      readonly browser: string;
      /** The session that the member began on this page. */
      readonly signedInAs?: string | undefined;
      /** For a passkey. */
      readonly challenge: string;
    }
  | ({ readonly kind: 'security'; readonly expiresAtMillis: number } & SecurityPage);

/** The page on which a member manages passkeys. It belongs to one session. */
export interface SecurityPage {
  readonly institutionId: InstitutionId;
  readonly clientId: string;
  readonly sessionId: string;
  /** For a new passkey. */
  readonly challenge: string;
}

const purpose = 'authorization request';
const longestText = 16_384;

export function sealRequest(vault: Vault, sealed: SealedRequest): string {
  const bytes = vault.seal(purpose, Buffer.from(JSON.stringify(sealed)));
  return Buffer.from(bytes).toString('base64url');
}

/** Undefined for a text that is none of ours, of another kind, or that has expired. */
export function openRequest<Kind extends SealedRequest['kind']>(
  vault: Vault,
  text: string,
  { kind, nowMillis }: { readonly kind: Kind; readonly nowMillis: number },
): Extract<SealedRequest, { kind: Kind }> | undefined {
  if (text.length > longestText) return undefined;
  try {
    const bytes = vault.open(purpose, Buffer.from(text, 'base64url'));
    const sealed = JSON.parse(Buffer.from(bytes).toString()) as SealedRequest;
    if (sealed.kind !== kind || sealed.expiresAtMillis <= nowMillis) return undefined;
    return sealed as Extract<SealedRequest, { kind: Kind }>;
  } catch (error) {
    // Too short to hold a nonce and a tag, or not sealed by this service.
    if (error instanceof DecryptionError) return undefined;
    throw error;
  }
}
