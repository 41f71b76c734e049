import { createPublicKey, type KeyObject, type webcrypto } from 'node:crypto';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { Problem } from '../../shared/problem.ts';

export const clientKeyAlgorithms = ['ES256', 'RS256', 'PS256', 'EdDSA'] as const;
export type ClientKeyAlgorithm = (typeof clientKeyAlgorithms)[number];

/** A public key that a client signs its assertions with. */
export interface ClientKey {
  readonly kid: string;
  /** The one that it may be used with. */
  readonly algorithm: ClientKeyAlgorithm;
  readonly publicJwk: object;
}

const leastRsaBits = 2048;

/**
 * Reads a public key from PEM or a JWK. `algorithm` chooses where a kind of key has several; else the JWK does, else
 * RSA is RS256. Without a `kid` its RFC 7638 thumbprint is one. Problem `invalid_request`.
 */
export async function readPublicKey(text: string, algorithm?: ClientKeyAlgorithm): Promise<ClientKey> {
  const jwk = text.trimStart().startsWith('{') ? readJwk(text) : undefined;
  if (jwk?.d !== undefined || /PRIVATE KEY/.test(text)) {
    throw refused('This is a private key: it stays with the client, only the public one is registered.');
  }
  let key: KeyObject;
  try {
    key = createPublicKey(
      jwk === undefined ? text : { key: jwk as unknown as webcrypto.JsonWebKey, format: 'jwk' },
    );
  } catch (cause) {
    throw refused('A public key is expected, in PEM or as a JWK.', cause);
  }
  const possible = algorithmsOf(key);
  const wanted = algorithm ?? jwk?.alg ?? possible[0];
  const chosen = possible.find((one) => one === (wanted === 'Ed25519' ? 'EdDSA' : wanted));
  if (chosen === undefined) {
    throw refused(`The key must be one for ${clientKeyAlgorithms.join(', ')}; RSA has 2048 bits or more.`);
  }
  const publicJwk = key.export({ format: 'jwk' });
  const kid = jwk?.kid ?? (await calculateJwkThumbprint(publicJwk as JWK));
  if (!/^[!-~]{1,128}$/.test(kid)) throw refused('A kid has 1 to 128 visible ASCII characters.');
  return { kid, algorithm: chosen, publicJwk };
}

function algorithmsOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): ClientKeyAlgorithm[] {
  if (asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1') return ['ES256'];
  if (asymmetricKeyType === 'ed25519') return ['EdDSA'];
  const bits = asymmetricKeyDetails?.modulusLength ?? 0;
  return asymmetricKeyType === 'rsa' && bits >= leastRsaBits ? ['RS256', 'PS256'] : [];
}

/** A file that the operator names. */
function readJwk(text: string): JWK {
  try {
    return JSON.parse(text) as JWK;
  } catch (cause) {
    throw refused('The JWK is no JSON.', cause);
  }
}

function refused(detail: string, cause?: unknown): Problem {
  return new Problem('invalid_request', detail, { cause });
}
