import type { DpopProof } from './transport.ts';

/**
 * Makes DPoP proofs (RFC 9449) with an ES256 key pair, which may be one that never leaves the device:
 * `crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify'])`.
 */
export function dpopWith({
  privateKey,
  publicKey,
}: {
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}): DpopProof {
  const jwk = crypto.subtle.exportKey('jwk', publicKey).then(({ kty, crv, x, y }) => ({ kty, crv, x, y }));
  return async ({ method, url, accessToken, nonce }) => {
    const header = { typ: 'dpop+jwt', alg: 'ES256', jwk: await jwk };
    const iat = Math.floor(Date.now() / 1000);
    const ath = accessToken && base64url(await crypto.subtle.digest('SHA-256', utf8(accessToken)));
    const claims = { jti: crypto.randomUUID(), htm: method, htu: url, iat, ath, nonce };
    const input = [header, claims].map((part) => base64url(utf8(JSON.stringify(part)))).join('.');
    const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, privateKey, utf8(input));
    return `${input}.${base64url(signature)}`;
  };
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function base64url(bytes: ArrayBuffer | Uint8Array): string {
  return btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}
