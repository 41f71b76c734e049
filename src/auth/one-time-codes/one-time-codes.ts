import { randomBytes, timingSafeEqual } from 'node:crypto';
import { base32 as encode, fromTyped, readableAlphabet } from '../../shared/text/base32.ts';
import type { InstitutionId, Queryable } from '../../storage/index.ts';
import type { AuthDeps } from '../deps.ts';
import type { Vault } from '../keys/vault.ts';

/** A code ends after this many wrong tries. */
export const maxTries = 5;
const selectorBytes = 5;
const secretBytes = 16;

interface OneTimeCode {
  /** Finds the row, which holds only a hash of the secret. */
  readonly selector: string;
  readonly secret: string;
}

/** Returns 128 random bits and a selector, and both as one text for people. */
function newCode(): OneTimeCode & { readonly code: string } {
  const selector = base32(randomBytes(selectorBytes));
  const secret = base32(randomBytes(secretBytes));
  return { selector, secret, code: `${selector}-${secret}` };
}

function readCode(code: string): OneTimeCode {
  const plain = fromTyped(code);
  const selectorLength = base32(Buffer.alloc(selectorBytes)).length;
  return { selector: plain.slice(0, selectorLength), secret: plain.slice(selectorLength) };
}

/** The part of a typed text that names a code, whether anybody has it or not. */
export function selectorOf(text: string): string {
  return readCode(text).selector;
}

interface NewSecret {
  readonly selector: string;
  readonly secretHash: Buffer;
  readonly expiresAt: Date;
}

/**
 * Makes a code of 128 random bits and saves its hash with `save`. `purpose`: the vault's, for the hash and for the sealed code
 * beside the event by which the institution fetches it.
 */
export async function issueCode(
  vault: Vault,
  { purpose, expiresAt }: { readonly purpose: string; readonly expiresAt: Date },
  save: (secret: NewSecret) => Promise<void>,
): Promise<{ readonly code: string; readonly sealedCode: Uint8Array; readonly expiresAt: Date }> {
  const { selector, secret, code } = newCode();
  await save({ selector, secretHash: vault.hash(purpose, secret), expiresAt });
  return { code, sealedCode: vault.seal(purpose, Buffer.from(code)), expiresAt };
}

interface CodeRow {
  readonly secretHash: Buffer;
  readonly failedTries: number;
  readonly expiresAt: Date;
}

/** The unexpired code that the text's selector names, and whether the secret matches. Undefined after too many tries. */
export async function findCode<Row extends CodeRow>(
  { database, clock, businessTime, vault }: AuthDeps,
  institutionId: InstitutionId,
  {
    text,
    purpose,
    select,
  }: {
    readonly text: string;
    readonly purpose: string;
    readonly select: (db: Queryable, selector: string) => Promise<Row | undefined>;
  },
): Promise<{ readonly row: Row; readonly selector: string; readonly matches: boolean } | undefined> {
  const { selector, secret } = readCode(text);
  const row = await database.read(institutionId, (db) => select(db, selector));
  if (row === undefined || row.failedTries >= maxTries) return undefined;
  if (row.expiresAt <= businessTime(institutionId, clock())) return undefined;
  return { row, selector, matches: timingSafeEqual(vault.hash(purpose, secret), row.secretHash) };
}

function base32(bytes: Uint8Array): string {
  return encode(bytes, readableAlphabet);
}
