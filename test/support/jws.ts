import { createHmac, type KeyObject, sign } from 'node:crypto';

const base64url = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** Signs any input, however wrong: an object as JSON, a string unchanged. `secret` makes an HMAC instead. */
export function signJws(
  header: object,
  payload: object | string,
  key: KeyObject | { readonly secret: string | Buffer },
): string {
  const input = `${base64url(header)}.${base64url(payload)}`;
  return `${input}.${signatureOf(input, key, 'alg' in header ? String(header.alg) : '').toString('base64url')}`;
}

function signatureOf(
  input: string,
  key: KeyObject | { readonly secret: string | Buffer },
  alg: string,
): Buffer {
  const data = Buffer.from(input);
  if ('secret' in key) return createHmac('sha256', key.secret).update(data).digest();
  if (key.asymmetricKeyType === 'ec') return sign('sha256', data, { key, dsaEncoding: 'ieee-p1363' });
  if (key.asymmetricKeyType === 'ed25519') return sign(null, data, key);
  // RSA_PKCS1_PSS_PADDING with a salt as long as the hash.
  return alg === 'PS256'
    ? sign('sha256', data, { key, padding: 6, saltLength: 32 })
    : sign('sha256', data, key);
}

/** A JWS with replaced parts under its old signature. */
export function tamper(
  jws: string,
  change: { readonly header?: object; readonly payload?: object; readonly signature?: string },
): string {
  const [header = '', payload = '', signature = ''] = jws.split('.');
  const merged = (part: string, changes: object | undefined) =>
    changes === undefined
      ? part
      : base64url({ ...JSON.parse(Buffer.from(part, 'base64url').toString()), ...changes });
  return [merged(header, change.header), merged(payload, change.payload), change.signature ?? signature].join(
    '.',
  );
}
