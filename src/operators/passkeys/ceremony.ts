import { createHash } from 'node:crypto';
import {
  creationOptions,
  type EnrolledKey,
  newSecret,
  openText,
  relyingPartyOf,
  sealText,
  spendChallenge,
  verifyEnrollment,
} from '../../auth/index.ts';
import { findInstitution } from '../../institutions/index.ts';
import type { InstitutionId, Queryable } from '../../storage/index.ts';
import type { OperatorDeps } from '../deps.ts';

export type PasskeyDeps = Pick<OperatorDeps, 'database' | 'clock' | 'businessTime' | 'auth'>;

/** A page lives as long, and so does its challenge. */
const pageMillis = 10 * 60_000;
/** The vault's purpose. Pages of members have another, so a challenge of theirs counts nowhere here. */
const purpose = 'operator page';

/** The hidden field of a page, or a cookie. The challenge travels in it, sealed (ADR 50). */
export type OperatorPage = { readonly expiresAtMillis: number; readonly challenge: string } & (
  | { readonly kind: 'sign_in' }
  | {
      readonly kind: 'invitation';
      readonly institutionId: InstitutionId;
      readonly operatorId: string;
      /** Of the code that was right. A new code has another. */
      readonly selector: string;
    }
  | { readonly kind: 'passkeys'; readonly sessionId: string }
  | { readonly kind: 'device'; readonly sessionId: string; readonly deviceHash: string }
  | {
      /** A cookie; the challenge is the state of the request to the provider. */
      readonly kind: 'provider';
      readonly institutionId: InstitutionId;
      readonly issuer: string;
      readonly nonce: string;
      readonly verifier: string;
      readonly maxAgeSeconds: number;
      readonly next: string;
    }
);

type Facts<Page> = Page extends OperatorPage ? Omit<Page, 'challenge' | 'expiresAtMillis'> : never;

/** Seals a page with a new challenge. */
export function sealPage(
  { clock, auth: { vault } }: PasskeyDeps,
  facts: Facts<OperatorPage>,
): { readonly request: string; readonly challenge: string } {
  const challenge = newSecret();
  const expiresAtMillis = clock().getTime() + pageMillis;
  return { request: sealText(vault, purpose, { ...facts, challenge, expiresAtMillis }), challenge };
}

/** Undefined for a text that is no page of this kind, or has expired. */
export function openPage<Kind extends OperatorPage['kind']>(
  { clock, auth: { vault } }: PasskeyDeps,
  kind: Kind,
  text: string,
): Extract<OperatorPage, { kind: Kind }> | undefined {
  const sealed = { text, kind, nowMillis: clock().getTime() };
  return openText<Extract<OperatorPage, { kind: Kind }>>(vault, purpose, sealed);
}

/** False: the challenge was answered before. */
export function spend(tx: Queryable, { challenge, expiresAtMillis }: OperatorPage): Promise<boolean> {
  return spendChallenge(tx, Buffer.from(challenge, 'base64url'), new Date(expiresAtMillis));
}

/** Names the operator to the authenticator without personal data, and the institution to the page of sign-in, which is for all of them. */
export function handleOf(institutionId: InstitutionId, operatorId: string): string {
  const number = Buffer.alloc(4);
  number.writeUInt32BE(institutionId);
  const hash = createHash('sha256').update(`operator\0${institutionId}\0${operatorId}`).digest();
  return Buffer.concat([number, hash]).toString('base64url');
}

/** The institution that a handle names; undefined for a text that is no handle of an operator. */
export function institutionIn(handle: unknown): InstitutionId | undefined {
  if (typeof handle !== 'string' || !/^[\w-]{48}$/.test(handle)) return undefined;
  const number = Buffer.from(handle, 'base64url').readUInt32BE();
  return number > 0 && number < 1_000_000_000 ? (number as InstitutionId) : undefined;
}

/** The options with which a browser makes a passkey of the operator. */
export async function enrollmentOptions(
  { database, auth }: PasskeyDeps,
  institutionId: InstitutionId,
  facts: {
    readonly operatorId: string;
    readonly name: string;
    readonly challenge: string;
    readonly existing: readonly Buffer[];
  },
): Promise<object> {
  const institution = await database.directory((db) => findInstitution(db, institutionId));
  return creationOptions(relyingPartyOf(auth.issuer), {
    institutionName: institution?.name ?? '',
    userHandle: handleOf(institutionId, facts.operatorId),
    username: facts.name,
    challenge: facts.challenge,
    existing: facts.existing,
  });
}

/** The browser's answer with the name that the operator gave it. Undefined if either is not valid. */
export async function readEnrollment(
  { auth }: PasskeyDeps,
  sent: { readonly credential: string; readonly name: string },
  challenge: string,
): Promise<(EnrolledKey & { readonly name: string }) | undefined> {
  const name = sent.name.trim();
  if (!/^[^\p{Cc}]{1,64}$/u.test(name)) return undefined;
  const relyingParty = relyingPartyOf(auth.issuer);
  const key = await verifyEnrollment({ credential: sent.credential, challenge, relyingParty });
  return key && { ...key, name };
}
