import { createHash, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { signJws } from './jws.ts';

/** A key pair that proves itself (RFC 9449). */
export class TestKey {
  readonly privateKey: KeyObject;
  readonly publicJwk: Readonly<Record<string, unknown>>;
  readonly thumbprint: string;

  constructor() {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.privateKey = privateKey;
    const { crv, kty, x, y } = publicKey.export({ format: 'jwk' });
    this.publicJwk = { crv, kty, x, y };
    this.thumbprint = sha256(JSON.stringify(this.publicJwk));
  }

  /** A proof, with other members of header and claims where they are given; undefined leaves one out. */
  proof({ header, claims }: { readonly header?: object; readonly claims: object }): string {
    const payload = { jti: randomUUID(), ...claims };
    return signJws(
      { typ: 'dpop+jwt', alg: 'ES256', jwk: this.publicJwk, ...header },
      payload,
      this.privateKey,
    );
  }
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
