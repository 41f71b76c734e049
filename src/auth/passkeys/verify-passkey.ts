import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { PasskeyRow } from './passkey-queries.ts';
import { algorithms, type RelyingParty } from './relying-party.ts';

/** The text that a page's script wrote into its form, and the challenge and the host that it must be for. */
export interface Presented {
  readonly credential: string;
  readonly challenge: string;
  readonly relyingParty: RelyingParty;
}

const longestCredential = 32_768;
const base64url = /^[A-Za-z0-9_-]{1,1364}$/;

/** Loaded at the first passkey: the library takes about 28 MB and 0.8 s, which a service without passkeys does not pay. */
const library = () => import('@simplewebauthn/server');

/** The credential's id; undefined for a text that is no credential. */
export function credentialIdOf(text: string): Buffer | undefined {
  const id = read(text)?.id;
  return typeof id === 'string' && base64url.test(id) ? Buffer.from(id, 'base64url') : undefined;
}

/** The user handle of an assertion, which names its owner. */
export function userHandleIn(text: string): unknown {
  const response = read(text)?.response;
  return Object(response).userHandle;
}

export interface EnrolledKey {
  readonly credentialId: Buffer;
  readonly publicKey: Buffer;
  readonly signCount: number;
  readonly isSynced: boolean;
}

/** WebAuthn level 3, section 7.1. Undefined if the response is not valid. */
export async function verifyEnrollment(presented: Presented): Promise<EnrolledKey | undefined> {
  const response = read(presented.credential) as RegistrationResponseJSON | undefined;
  if (response === undefined) return undefined;
  const { verifyRegistrationResponse } = await library();
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    ...expected(presented),
    response,
    supportedAlgorithmIDs: algorithms,
  }).catch(unverified);
  if (!verified || registrationInfo === undefined) return undefined;
  const { credential, credentialDeviceType } = registrationInfo;
  return {
    credentialId: Buffer.from(credential.id, 'base64url'),
    publicKey: Buffer.from(credential.publicKey),
    signCount: credential.counter,
    isSynced: credentialDeviceType === 'multiDevice',
  };
}

/** WebAuthn level 3, section 7.2. The new counter of the passkey; undefined if the response is not valid. */
export async function verifyAssertion(
  presented: Presented,
  passkey: Pick<PasskeyRow, 'publicKey' | 'signCount'>,
): Promise<number | undefined> {
  const response = read(presented.credential) as AuthenticationResponseJSON | undefined;
  if (response === undefined) return undefined;
  const { verifyAuthenticationResponse } = await library();
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    ...expected(presented),
    response,
    credential: {
      id: response.id,
      publicKey: new Uint8Array(passkey.publicKey),
      counter: Number(passkey.signCount),
    },
  }).catch(unverified);
  return verified ? authenticationInfo?.newCounter : undefined;
}

function expected({ challenge, relyingParty }: Presented) {
  return {
    expectedChallenge: challenge,
    expectedOrigin: relyingParty.origin,
    expectedRPID: relyingParty.id,
    requireUserVerification: true,
  };
}

/** The library throws a plain Error for each response that it does not accept. */
function unverified(): { verified: false; registrationInfo?: never; authenticationInfo?: never } {
  return { verified: false };
}

function read(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.length > longestCredential) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
