import type { InstitutionId } from '../../storage/index.ts';
import type { AuthDeps } from '../deps.ts';
import { purposeAt } from '../hosts/at-host.ts';
import { openText, sealText } from '../keys/sealed-text.ts';
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
  | {
      /** The page that asks for the code after the password. */
      readonly kind: 'code';
      readonly request: AuthorizationRequest;
      readonly expiresAtMillis: number;
      readonly browser: string;
      /** A bigint in decimals. */
      readonly userKey: string;
      readonly userId: string;
      readonly userEpoch: number;
    }
  | ({ readonly kind: 'security'; readonly expiresAtMillis: number } & SecurityPage)
  | ({
      /** The page on which a member sets up an authenticator app. The secret is stored once a code confirms it. */
      readonly kind: 'authenticator';
      readonly expiresAtMillis: number;
      /** In base64url. */
      readonly secret: string;
    } & SecurityPage);

/** The page on which a member manages passkeys and the second step. It belongs to one session. */
export interface SecurityPage {
  readonly institutionId: InstitutionId;
  readonly clientId: string;
  readonly sessionId: string;
  /** For a new passkey, and spent by each change that counts once. */
  readonly challenge: string;
}

const purpose = 'authorization request';

type Sealer = Pick<AuthDeps, 'vault' | 'host'>;

export function sealRequest(deps: Sealer, sealed: SealedRequest): string {
  return sealText(deps.vault, purposeAt(deps, purpose), sealed);
}

/** Undefined for a text that is none of this issuer's, of another kind, or that has expired. */
export function openRequest<Kind extends SealedRequest['kind']>(
  deps: Sealer,
  text: string,
  { kind, nowMillis }: { readonly kind: Kind; readonly nowMillis: number },
): Extract<SealedRequest, { kind: Kind }> | undefined {
  const sealed = { text, kind, nowMillis };
  return openText<Extract<SealedRequest, { kind: Kind }>>(deps.vault, purposeAt(deps, purpose), sealed);
}
