import { createHash } from 'node:crypto';
import type { InstitutionId } from '../../storage/index.ts';

/** The side that a passkey belongs to (WebAuthn level 3, section 5.4.2). */
export interface RelyingParty {
  readonly id: string;
  readonly origin: string;
}

/** The host of the pages. An address is no name for a passkey, so the pages of a demo are at `localhost`. */
export function relyingPartyOf(issuer: string): RelyingParty {
  const url = new URL(issuer);
  if (url.hostname === '127.0.0.1') url.hostname = 'localhost';
  return { id: url.hostname, origin: url.origin };
}

/** Names the member to the authenticator without personal data (WebAuthn level 3, section 14.6.1). */
export function userHandleOf(institutionId: InstitutionId, userId: string): string {
  return createHash('sha256').update(`${institutionId}\0${userId}`).digest('base64url');
}

/** COSE algorithms: ES256, EdDSA, RS256. */
export const algorithms = [-7, -8, -257];

const timeoutMillis = 5 * 60_000;

/** PublicKeyCredentialCreationOptionsJSON. The passkey is discoverable, and its device verifies the member. */
export function creationOptions(
  relyingParty: RelyingParty,
  facts: {
    readonly institutionName: string;
    readonly userHandle: string;
    readonly username: string;
    readonly challenge: string;
    readonly existing: readonly Buffer[];
  },
): object {
  const { institutionName, userHandle, username, challenge, existing } = facts;
  return {
    rp: { id: relyingParty.id, name: institutionName },
    user: { id: userHandle, name: username, displayName: username },
    challenge,
    pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
    timeout: timeoutMillis,
    excludeCredentials: existing.map((id) => ({ type: 'public-key', id: id.toString('base64url') })),
    authenticatorSelection: {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    },
    attestation: 'none',
  };
}

/** PublicKeyCredentialRequestOptionsJSON, without names, so that it reveals no member. */
export function requestOptions(relyingParty: RelyingParty, challenge: string): object {
  return { challenge, rpId: relyingParty.id, timeout: timeoutMillis, userVerification: 'required' };
}
