import { generateKeyPairSync, hash, type KeyObject, randomBytes, sign } from 'node:crypto';

/** A self-signed certificate of a new P-256 key, as a client of mutual TLS makes one. */
export class TestCertificate {
  readonly der: Buffer;
  readonly pem: string;
  readonly privateKey: KeyObject;
  /** `x5t#S256` (RFC 8705 section 3.1). */
  readonly thumbprint: string;
  /** The header `Client-Cert` of a proxy (RFC 9440 section 2.2). */
  readonly header: string;

  constructor({
    name = 'app.example',
    from = '2026-01-01T00:00:00Z',
    until = '2027-01-01T00:00:00Z',
    pair = generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  }: {
    readonly name?: string;
    readonly from?: string;
    readonly until?: string;
    readonly pair?: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  } = {}) {
    this.privateKey = pair.privateKey;
    this.der = selfSigned(pair, { name, from, until });
    const base64 = this.der.toString('base64');
    this.pem = `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
    this.thumbprint = hash('sha256', this.der, 'base64url');
    this.header = `:${base64}:`;
  }

  /** For a TLS connection of Node. */
  get tls(): { readonly cert: string; readonly key: string } {
    return { cert: this.pem, key: this.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString() };
  }
}

/** ecdsa-with-SHA256 and commonName (RFC 5758 section 3.2, RFC 4519 section 2.3), as DER. */
const ecdsaWithSha256 = Buffer.from('06082a8648ce3d040302', 'hex');
const sha256WithRsa = Buffer.from('06092a864886f70d01010b0500', 'hex');
const commonName = Buffer.from('0603550403', 'hex');

/** RFC 5280 section 4.1. */
function selfSigned(
  { publicKey, privateKey }: { readonly publicKey: KeyObject; readonly privateKey: KeyObject },
  { name, from, until }: { readonly name: string; readonly from: string; readonly until: string },
): Buffer {
  const algorithm = der(0x30, privateKey.asymmetricKeyType === 'rsa' ? sha256WithRsa : ecdsaWithSha256);
  const subject = der(0x30, der(0x31, der(0x30, commonName, der(0x0c, Buffer.from(name)))));
  const serial = der(0x02, Buffer.from([1]), randomBytes(8));
  const facts = der(
    0x30,
    ...[der(0xa0, Buffer.from('020102', 'hex')), serial, algorithm, subject],
    ...[der(0x30, time(from), time(until)), subject],
    publicKey.export({ format: 'der', type: 'spki' }),
  );
  const signature = sign('sha256', facts, privateKey);
  return der(0x30, facts, algorithm, der(0x03, Buffer.from([0]), signature));
}

/** GeneralizedTime. */
function time(iso: string): Buffer {
  return der(0x18, Buffer.from(new Date(iso).toISOString().replace(/[-:T]|\.\d+/g, '')));
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
