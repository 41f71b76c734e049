import { createPublicKey, type KeyObject, type webcrypto } from 'node:crypto';

/** A public key as it is stored: the public members of a JWK (RFC 7517) and no others. */
export interface PublicJwk {
  readonly kty: string;
  /** The `kid` of a JWS header; of a certificate its SHA-256 fingerprint in hex. */
  readonly kid?: string;
  /** The one algorithm of the key; a key from a certificate is bound to its type only. */
  readonly alg?: string;
  readonly [member: string]: string | undefined;
}

export interface ReadKey {
  /** Without `alg`. */
  readonly jwk: PublicJwk;
  readonly statedAlgorithm: unknown;
  /** The algorithms of the key's type, the default first. */
  readonly algorithms: readonly string[];
}

/** The message is one sentence for the operator. */
export class InvalidPublicKeyError extends Error {
  override readonly name = 'InvalidPublicKeyError';
}

const minRsaBits = 2048;
const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/** The public members and the signature algorithms of a key, by its type and curve. */
const keyTypes: Readonly<
  Record<string, { readonly members: readonly string[]; readonly algorithms: readonly string[] }>
> = {
  RSA: { members: ['n', 'e'], algorithms: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] },
  'EC P-256': { members: ['crv', 'x', 'y'], algorithms: ['ES256'] },
  'EC P-384': { members: ['crv', 'x', 'y'], algorithms: ['ES384'] },
  'EC P-521': { members: ['crv', 'x', 'y'], algorithms: ['ES512'] },
  'OKP Ed25519': { members: ['crv', 'x'], algorithms: ['EdDSA', 'Ed25519'] },
};

/** Throws InvalidPublicKeyError for secret, private, weak and damaged keys, and for unknown types. */
export function readJwk(jwk: Readonly<Record<string, unknown>>): ReadKey {
  if (secretMembers.some((member) => member in jwk && jwk.kty !== 'oct')) throw holdsPrivateKey();
  const { kty, crv, kid, alg: statedAlgorithm } = jwk;
  const name = crv === undefined ? String(kty) : `${kty} ${crv}`;
  const type = Object.hasOwn(keyTypes, name) ? keyTypes[name] : undefined;
  if (type === undefined) {
    throw new InvalidPublicKeyError(
      `A public key of one of these types is expected: ${Object.keys(keyTypes).join(', ')}.`,
    );
  }
  const members = type.members.map((member) => [member, jwk[member]] as const);
  if (!members.every(([, value]) => typeof value === 'string')) throw damaged();
  const read: PublicJwk = {
    kty: String(kty),
    ...Object.fromEntries(members),
    ...(typeof kid === 'string' && kid !== '' && { kid }),
  };
  const { modulusLength = minRsaBits, publicExponent = 3n } = toKeyObject(read).asymmetricKeyDetails ?? {};
  if (modulusLength < minRsaBits || publicExponent < 3n) {
    throw new InvalidPublicKeyError(`An RSA key must have at least ${minRsaBits} bits.`);
  }
  return { jwk: read, statedAlgorithm, algorithms: type.algorithms };
}

/** Throws InvalidPublicKeyError. */
export function readPem(text: string): ReadKey {
  if (/PRIVATE KEY/.test(text)) throw holdsPrivateKey();
  let key: KeyObject;
  try {
    key = createPublicKey(text);
  } catch (cause) {
    throw new InvalidPublicKeyError('A public key is expected, in PEM or as a JWK.', { cause });
  }
  return readKeyObject(key);
}

/** Throws InvalidPublicKeyError. */
export function readKeyObject(key: KeyObject): ReadKey {
  let jwk: object;
  try {
    jwk = key.export({ format: 'jwk' });
  } catch (cause) {
    throw new InvalidPublicKeyError('A key is of a type that has no JWK.', { cause });
  }
  return readJwk({ ...jwk });
}

/** Throws InvalidPublicKeyError. */
export function toKeyObject(jwk: PublicJwk): KeyObject {
  try {
    return createPublicKey({ key: jwk as webcrypto.JsonWebKey, format: 'jwk' });
  } catch {
    throw damaged();
  }
}

export function holdsPrivateKey(): InvalidPublicKeyError {
  return new InvalidPublicKeyError(
    'A key is private: register only the public key, and replace this key pair if the private key was shared.',
  );
}

function damaged(): InvalidPublicKeyError {
  return new InvalidPublicKeyError('A key is damaged.');
}
