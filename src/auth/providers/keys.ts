import { type KeyObject, X509Certificate } from 'node:crypto';
import {
  holdsPrivateKey,
  InvalidPublicKeyError,
  type PublicJwk,
  readJwk,
  readKeyObject,
  toKeyObject,
} from '../keys/public-keys.ts';

/** A provider's key, ready for use. */
export interface VerificationKey {
  readonly kid: string | undefined;
  readonly alg: string | undefined;
  readonly publicKey: KeyObject;
}

const maxKeys = 20;

/**
 * The signature keys of a JWK Set or a single JWK. Each is bound to the algorithm that it states, or to its type's
 * default. Keys for encryption are left out. Throws InvalidPublicKeyError, also if two keys have the same `kid` or none.
 */
export function readJwks(text: string): PublicJwk[] {
  const keys = parseJwks(text)
    .filter(({ use }) => use === undefined || use === 'sig')
    .map((listed) => {
      const { jwk, statedAlgorithm, algorithms } = readJwk(listed);
      const alg = algorithms.find((known) => known === (statedAlgorithm ?? algorithms[0]));
      if (alg !== undefined) return { ...jwk, alg };
      throw new InvalidPublicKeyError(`A key of its type may have alg ${algorithms.join(', ')}.`);
    });
  const kids = new Set(keys.map((key) => key.kid));
  if (kids.size !== keys.length) throw new InvalidPublicKeyError('Two keys have the same kid, or none.');
  return checkCount(keys);
}

/** The keys of certificates in PEM, whose dates are ignored. Throws InvalidPublicKeyError. */
export function readCertificates(text: string): PublicJwk[] {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) throw holdsPrivateKey();
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const keys = blocks.map((pem) => {
    const certificate = readCertificate(pem);
    const { jwk } = readKeyObject(certificate.publicKey);
    if (jwk.kty !== 'RSA' && jwk.crv !== 'P-256') {
      throw new InvalidPublicKeyError('A certificate must hold an RSA key, or an EC key on P-256.');
    }
    return { ...jwk, kid: certificate.fingerprint256.replaceAll(':', '').toLowerCase() };
  });
  return checkCount(keys);
}

export function importKeys(keys: readonly PublicJwk[]): VerificationKey[] {
  return keys.map((jwk) => ({ kid: jwk.kid, alg: jwk.alg, publicKey: toKeyObject(jwk) }));
}

function parseJwks(text: string): Record<string, unknown>[] {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw new InvalidPublicKeyError('The keys are not JSON: expected a JWK Set (RFC 7517).');
  }
  const { keys = [document] } = Object(document) as { keys?: unknown };
  if (!Array.isArray(keys) || !keys.every((key) => key instanceof Object)) {
    throw new InvalidPublicKeyError('The keys are not a JWK Set (RFC 7517).');
  }
  return keys;
}

function readCertificate(pem: string): Pick<X509Certificate, 'publicKey' | 'fingerprint256'> {
  try {
    const { publicKey, fingerprint256 } = new X509Certificate(pem);
    return { publicKey, fingerprint256 };
  } catch {
    throw new InvalidPublicKeyError('A certificate is damaged.');
  }
}

function checkCount(keys: PublicJwk[]): PublicJwk[] {
  if (keys.length >= 1 && keys.length <= maxKeys) return keys;
  throw new InvalidPublicKeyError(`Expected 1 to ${maxKeys} keys for signatures, found ${keys.length}.`);
}
