import { createHash, timingSafeEqual } from 'node:crypto';
import { type Confirmation, keyThumbprintOf } from '../binding/confirmation.ts';

interface ExchangeFacts {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly expiresAt: Date;
  readonly isExchanged: boolean;
  readonly isPermitted: boolean;
  /** The key that the app named for its tokens (RFC 9449 section 10); null: none. */
  readonly keyThumbprint: string | null;
}

interface PresentedCode {
  readonly clientId: string;
  /** Undefined if the request names none. */
  readonly redirectUri: string | undefined;
  readonly verifier: string;
  /** The key or certificate that the request for tokens proves. */
  readonly confirmation: Confirmation | undefined;
}

/**
 * `reuse`: the code was exchanged before, so it was stolen from the app or on its way, and all that came of it ends (RFC 6749 section
 * 4.1.2). Another client, and one without the verifier, cannot end anything: it may be the thief.
 */
export function decideExchange(
  grant: ExchangeFacts,
  presented: PresentedCode,
  now: Date,
): 'exchange' | 'reuse' | 'refuse' {
  if (presented.clientId !== grant.clientId) return 'refuse';
  if (!matches(presented.verifier, grant.codeChallenge)) return 'refuse';
  const { keyThumbprint } = grant;
  if (keyThumbprint !== null && keyThumbprintOf(presented.confirmation) !== keyThumbprint) return 'refuse';
  if (grant.isExchanged) return 'reuse';
  if (now >= grant.expiresAt || !grant.isPermitted) return 'refuse';
  if (presented.redirectUri !== undefined && presented.redirectUri !== grant.redirectUri) return 'refuse';
  return 'exchange';
}

/** RFC 7636 section 4.6. */
function matches(verifier: string, challenge: string): boolean {
  const own = createHash('sha256').update(verifier).digest('base64url');
  return timingSafeEqual(Buffer.from(own), Buffer.from(challenge));
}
