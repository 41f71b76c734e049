import { createHmac, type KeyObject, randomUUID, sign } from 'node:crypto';

/** JWTs made with node:crypto: they share nothing with the code that verifies them. */

const hashes: Readonly<Record<string, string | null>> = { '256': 'sha256', '384': 'sha384', '512': 'sha512' };

export function base64url(value: object | string): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
}

/** Signed by the header's `alg`; `none` has an empty signature, HS… takes a secret's text as key. */
export function signJwt(
  header: { readonly alg: string; readonly [member: string]: unknown },
  payload: object,
  key: KeyObject | string,
): string {
  const input = `${base64url(header)}.${base64url(payload)}`;
  return `${input}.${signature(header.alg, input, key)}`;
}

function signature(alg: string, input: string, key: KeyObject | string): string {
  if (alg === 'none') return '';
  const hash = hashes[alg.slice(2)] ?? null;
  if (typeof key === 'string') {
    return createHmac(hash ?? 'sha256', key)
      .update(input)
      .digest('base64url');
  }
  const options = {
    key,
    dsaEncoding: 'ieee-p1363',
    ...(alg.startsWith('PS') && { padding: 6, saltLength: Number(alg.slice(2)) / 8 }),
  } as const;
  return sign(key.asymmetricKeyType === 'ed25519' ? null : hash, Buffer.from(input), options).toString(
    'base64url',
  );
}

/** The claims of a valid assertion of a member at `now`. */
export function validClaims(now: Date, issuer: string, subject: string): Record<string, unknown> {
  const seconds = Math.floor(now.getTime() / 1000);
  return {
    iss: issuer,
    sub: subject,
    aud: 'http://sharedraft.test',
    iat: seconds,
    exp: seconds + 300,
    jti: randomUUID(),
  };
}
