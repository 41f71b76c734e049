import {
  createHmac,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';

/** The keys that sign the webhooks of one endpoint, after Standard Webhooks. */
export interface SigningKey {
  /** HMAC-SHA256, 32 bytes: signature `v1`. */
  readonly secret: Uint8Array;
  /** Ed25519, PKCS #8: signature `v1a`. */
  readonly privateKey: Uint8Array;
  /** `whpk_` and the raw public key in base64. */
  readonly publicKey: string;
}

/** A signing key that is ready to sign. To read a private key takes ten times as long as to sign with it. */
export interface OpenedKey {
  readonly secret: Uint8Array;
  /** Without it, the signature is `v1` alone. */
  readonly privateKey?: KeyObject;
}

export function newSigningKey(): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  return {
    secret: randomBytes(32),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'der' }),
    publicKey: `whpk_${raw.toString('base64')}`,
  };
}

export function secretText(secret: Uint8Array): string {
  return `whsec_${Buffer.from(secret).toString('base64')}`;
}

export interface Message {
  /** The id of the event: the same for every attempt. */
  readonly id: string;
  /** The time of the attempt. */
  readonly at: Date;
  readonly body: string;
}

/** The three headers. Each key signs in both ways, so that a receiver may verify by either, with the old key or the new one. */
export function signatureHeaders(
  { id, at, body }: Message,
  keys: readonly OpenedKey[],
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signed = Buffer.from(`${id}.${timestamp}.${body}`);
  const signatures = keys.flatMap(({ secret, privateKey }) => {
    const shared = `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`;
    if (privateKey === undefined) return [shared];
    return [shared, `v1a,${sign(null, signed, privateKey).toString('base64')}`];
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}

export function openedKey({ secret, privateKey }: Pick<SigningKey, 'secret' | 'privateKey'>): OpenedKey {
  const key = Buffer.from(privateKey);
  return { secret, privateKey: createPrivateKey({ key, format: 'der', type: 'pkcs8' }) };
}
