import { createPublicKey, type KeyObject, type webcrypto, X509Certificate } from 'node:crypto';
import { ProviderRejectedError } from './provider.ts';

/** A public key as it is kept: the public members of a JWK (RFC 7517) and no others. */
export interface ProviderKey {
  readonly kty: string;
  /** What a JWT's header names it by; of a certificate its SHA-256 fingerprint in hex. */
  readonly kid?: string;
  /** The one algorithm that it verifies; of a certificate left open within its type. */
  readonly alg?: string;
  readonly [member: string]: string | undefined;
}

/** One that can be used. */
export interface VerificationKey {
  readonly kid: string | undefined;
  readonly alg: string | undefined;
  readonly publicKey: KeyObject;
}

const mostKeys = 20;
const leastRsaBits = 2048;

/** The public members of a key by its type, and what it may sign: the first when it does not say. */
const keyTypes: Readonly<
  Record<string, { readonly members: readonly string[]; readonly algs: readonly string[] }>
> = {
  RSA: { members: ['n', 'e'], algs: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] },
  'EC P-256': { members: ['crv', 'x', 'y'], algs: ['ES256'] },
  'EC P-384': { members: ['crv', 'x', 'y'], algs: ['ES384'] },
  'EC P-521': { members: ['crv', 'x', 'y'], algs: ['ES512'] },
  'OKP Ed25519': { members: ['crv', 'x'], algs: ['EdDSA', 'Ed25519'] },
};

const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/**
 * The signature keys of a JWK Set (or a single JWK), each bound to one algorithm: the one it names, else its type's
 * first. Keys for encryption are left out. ProviderRejectedError for secret or private keys, weak ones, and what no header
 * could choose between.
 */
export function readJwks(text: string): ProviderKey[] {
  const listed = jwksOf(text).filter((jwk) => jwk.use === undefined || jwk.use === 'sig');
  const keys = listed.map(toProviderKey);
  const kids = new Set(keys.map((key) => key.kid));
  if (kids.size !== keys.length) throw new ProviderRejectedError('Two keys have the same kid, or none.');
  return boundedKeys(keys);
}

/** The keys of one or more certificates in PEM. A certificate stands for its key: its dates are not looked at. */
export function readCertificates(text: string): ProviderKey[] {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) throw holdsPrivateKey();
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const keys = blocks.map((pem) => {
    const certificate = readCertificate(pem);
    const jwk = exportKey(certificate);
    const { alg: _, ...key } = toProviderKey({ ...jwk });
    if (key.kty !== 'RSA' && key.crv !== 'P-256') {
      throw new ProviderRejectedError('A certificate must hold an RSA key, or an EC key on P-256.');
    }
    return { ...key, kid: certificate.fingerprint256.replaceAll(':', '').toLowerCase() };
  });
  return boundedKeys(keys);
}

export function importKeys(keys: readonly ProviderKey[]): VerificationKey[] {
  return keys.map((jwk) => ({ kid: jwk.kid, alg: jwk.alg, publicKey: publicKeyOf(jwk) }));
}

function jwksOf(text: string): Record<string, unknown>[] {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw new ProviderRejectedError('The keys are not JSON: expected a JWK Set (RFC 7517).');
  }
  const { keys = [document] } = Object(document) as { keys?: unknown };
  if (!Array.isArray(keys) || !keys.every((key) => key instanceof Object)) {
    throw new ProviderRejectedError('The keys are not a JWK Set (RFC 7517).');
  }
  return keys;
}

function toProviderKey(jwk: Readonly<Record<string, unknown>>): ProviderKey {
  if (secretMembers.some((member) => member in jwk)) throw holdsPrivateKey();
  const { kty, crv, kid, alg } = jwk;
  const name = crv === undefined ? String(kty) : `${kty} ${crv}`;
  const type = Object.hasOwn(keyTypes, name) ? keyTypes[name] : undefined;
  if (type === undefined) {
    throw new ProviderRejectedError(`Keys must be of the types ${Object.keys(keyTypes).join(', ')}.`);
  }
  const chosen = type.algs.find((known) => known === (alg ?? type.algs[0]));
  if (chosen === undefined) {
    throw new ProviderRejectedError(`A key of type ${name} may have alg ${type.algs.join(', ')}.`);
  }
  const members = type.members.map((member) => [member, jwk[member]] as const);
  if (!members.every(([, value]) => typeof value === 'string')) throw damaged();
  const key: ProviderKey = {
    kty: String(kty),
    ...Object.fromEntries(members),
    ...(typeof kid === 'string' && kid !== '' && { kid }),
    alg: chosen,
  };
  const { modulusLength = leastRsaBits, publicExponent = 3n } = publicKeyOf(key).asymmetricKeyDetails ?? {};
  if (modulusLength < leastRsaBits || publicExponent < 3n) {
    throw new ProviderRejectedError(`An RSA key must have at least ${leastRsaBits} bits.`);
  }
  return key;
}

function publicKeyOf(jwk: ProviderKey): KeyObject {
  try {
    return createPublicKey({ key: jwk as webcrypto.JsonWebKey, format: 'jwk' });
  } catch {
    throw damaged();
  }
}

function exportKey(certificate: X509Certificate): object {
  try {
    return certificate.publicKey.export({ format: 'jwk' });
  } catch {
    throw new ProviderRejectedError('A certificate must hold an RSA key, or an EC key on P-256.');
  }
}

function readCertificate(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new ProviderRejectedError('A certificate is damaged.');
  }
}

function boundedKeys(keys: ProviderKey[]): ProviderKey[] {
  if (keys.length >= 1 && keys.length <= mostKeys) return keys;
  throw new ProviderRejectedError(`Expected 1 to ${mostKeys} keys for signatures, found ${keys.length}.`);
}

function holdsPrivateKey(): ProviderRejectedError {
  return new ProviderRejectedError(
    'A key is secret or private: give only public keys, and replace this one.',
  );
}

function damaged(): ProviderRejectedError {
  return new ProviderRejectedError('A key is damaged.');
}
