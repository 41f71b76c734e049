import { calculateJwkThumbprint } from 'jose';
import { InvalidPublicKeyError, type PublicJwk, readJwk, readPem } from '../keys/public-keys.ts';

export const clientKeyAlgorithms = ['ES256', 'RS256', 'PS256', 'EdDSA'] as const;
export type ClientKeyAlgorithm = (typeof clientKeyAlgorithms)[number];

/** A public key that a client signs its assertions with. */
export interface ClientKey {
  readonly kid: string;
  /** The one algorithm of the key. */
  readonly algorithm: ClientKeyAlgorithm;
  readonly publicJwk: PublicJwk;
}

/**
 * Reads a public key from PEM or a JWK. `algorithm` decides for a type with several; then the JWK's `alg`; RSA alone is
 * RS256. Without a `kid` the key gets its RFC 7638 thumbprint. Throws InvalidPublicKeyError.
 */
export async function readPublicKey(text: string, algorithm?: ClientKeyAlgorithm): Promise<ClientKey> {
  const { jwk, statedAlgorithm, algorithms } = text.trimStart().startsWith('{')
    ? readJwk(parse(text))
    : readPem(text);
  const possible = clientKeyAlgorithms.filter((one) => algorithms.includes(one));
  const wanted = algorithm ?? statedAlgorithm ?? possible[0];
  const chosen = possible.find((one) => one === (wanted === 'Ed25519' ? 'EdDSA' : wanted));
  if (chosen === undefined) {
    throw new InvalidPublicKeyError(`The key must be one for ${clientKeyAlgorithms.join(', ')}.`);
  }
  const { kid = await calculateJwkThumbprint(jwk), ...publicJwk } = jwk;
  if (!/^[!-~]{1,128}$/.test(kid)) {
    throw new InvalidPublicKeyError('A kid has 1 to 128 visible ASCII characters.');
  }
  return { kid, algorithm: chosen, publicJwk };
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new InvalidPublicKeyError('The JWK is not JSON.', { cause });
  }
}
