import {
  constants,
  hash,
  type KeyObject,
  type SignKeyObjectInput,
  type VerifyKeyObjectInput,
  verify,
} from 'node:crypto';
import { InvalidPublicKeyError, readJwk, toKeyObject } from '../keys/public-keys.ts';
import { isCompactJwt } from '../tokens/compact-jwt.ts';
import { InvalidProofError } from './invalid-proof-error.ts';

/** The header `DPoP` of a request, and the request that it must fit. */
export interface ProofOfRequest {
  /** Empty if the header is missing. */
  readonly text: string;
  readonly method: string;
  /** As callers see it, without the query. */
  readonly url: string;
}

export interface Proof {
  /** SHA-256 of the public key (RFC 7638), as in `cnf.jkt`. */
  readonly thumbprint: string;
  readonly id: string;
  /** No process accepts the proof after this time. */
  readonly acceptedUntilMillis: number;
}

/** With a nonce a proof is minutes old at most; the window is for clocks that are wrong. */
const longestAgeSeconds = 300;
const furthestAheadSeconds = 60;
/** Beyond this a claim is no id, and the header no single key. */
const longestId = 256;
const longestProof = 8_192;

type Algorithm = Omit<VerifyKeyObjectInput & SignKeyObjectInput, 'key'> & {
  readonly digest: 'sha256' | null;
};
const edDsa: Algorithm = { digest: null };

/** The signature algorithms of proofs, with the way to verify each. */
const algorithms: Readonly<Record<string, Algorithm>> = {
  ES256: { digest: 'sha256', dsaEncoding: 'ieee-p1363' },
  PS256: { digest: 'sha256', padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 },
  EdDSA: edDsa,
  Ed25519: edDsa,
};
export const proofAlgorithms: readonly string[] = Object.keys(algorithms);

interface ProofKey {
  readonly algorithm: Algorithm;
  readonly key: KeyObject;
  readonly thumbprint: string;
}

/** A header is the same in all proofs of a key, so that its key is read once. */
const keysByHeader = new Map<string, ProofKey>();
const mostKeys = 2_000;

/**
 * RFC 9449 section 4.3. `accessToken` stands beside the proof at a protected resource. Throws InvalidProofError; `isNonce` decides whether the
 * nonce is one of ours that may still be used. The caller must refuse an id that was used before.
 */
export function verifyProof(
  { text, method, url }: ProofOfRequest,
  {
    accessToken,
    isNonce,
    nowMillis,
  }: {
    readonly accessToken?: string | undefined;
    readonly isNonce: (nonce: string) => boolean;
    readonly nowMillis: number;
  },
): Proof {
  requireJwt(text);
  const [header = '', payload = '', signature = ''] = text.split('.');
  const { key, algorithm, thumbprint } = keyOf(header);
  const { digest, ...how } = algorithm;
  const input = Buffer.from(text.slice(0, text.length - signature.length - 1));
  if (!verify(digest, input, { key, ...how }, Buffer.from(signature, 'base64url'))) {
    throw new InvalidProofError('The signature of the proof does not fit its key.');
  }
  const { jti, htm, htu, iat, ath, nonce } = parse(payload);
  if (typeof nonce !== 'string' || !isNonce(nonce)) {
    throw new InvalidProofError('Use the nonce of the header DPoP-Nonce, in a new proof.', 'use_dpop_nonce');
  }
  if (typeof jti !== 'string' || jti === '' || jti.length > longestId) {
    throw new InvalidProofError(`jti must be a text of 1 to ${longestId} characters.`);
  }
  if (htm !== method) throw new InvalidProofError('htm must be the method of the request.');
  if (typeof htu !== 'string' || !isSameUrl(htu, url)) {
    throw new InvalidProofError(`htu must be the address of the request without query and fragment: ${url}`);
  }
  if (typeof iat !== 'number' || !Number.isFinite(iat)) {
    throw new InvalidProofError('iat must be a number of seconds.');
  }
  if (accessToken !== undefined && ath !== hash('sha256', accessToken, 'base64url')) {
    throw new InvalidProofError('ath must be the SHA-256 of the access token in base64url.');
  }
  const nowSeconds = nowMillis / 1000;
  if (iat > nowSeconds + furthestAheadSeconds || iat <= nowSeconds - longestAgeSeconds) {
    throw new InvalidProofError('iat must be the time at which the proof was made.');
  }
  return { thumbprint, id: jti, acceptedUntilMillis: (iat + longestAgeSeconds) * 1000 };
}

/** Before anything else is read. Throws InvalidProofError. */
export function requireJwt(text: string): void {
  if (text === '') throw new InvalidProofError('The header DPoP is missing.');
  // Repeated headers are joined by a comma, which no JWT has.
  if (text.length > longestProof || !isCompactJwt(text)) {
    throw new InvalidProofError('The header DPoP must hold one signed JWT.');
  }
}

function keyOf(header: string): ProofKey {
  const known = keysByHeader.get(header);
  if (known !== undefined) return known;
  const { typ, alg, jwk, crit } = parse(header);
  if (typ !== 'dpop+jwt') throw new InvalidProofError('typ must be dpop+jwt.');
  if (crit !== undefined) throw new InvalidProofError('crit is not supported.');
  if (typeof jwk !== 'object' || jwk === null) throw new InvalidProofError('jwk must be the public key.');
  const read = readPublicKey({ ...jwk });
  const algorithm = typeof alg === 'string' && Object.hasOwn(algorithms, alg) ? algorithms[alg] : undefined;
  if (algorithm === undefined || !read.algorithms.includes(String(alg))) {
    throw new InvalidProofError(`alg must be the key's, and one of ${proofAlgorithms.join(', ')}.`);
  }
  const key = toKeyObject(read.jwk);
  const found = { algorithm, key, thumbprint: thumbprintOf(key) };
  if (keysByHeader.size >= mostKeys) keysByHeader.clear();
  keysByHeader.set(header, found);
  return found;
}

function readPublicKey(jwk: Readonly<Record<string, unknown>>): ReturnType<typeof readJwk> {
  try {
    return readJwk(jwk);
  } catch (error) {
    if (error instanceof InvalidPublicKeyError) throw new InvalidProofError(`jwk: ${error.message}`);
    throw error;
  }
}

/** RFC 7638, of the key as we write it: base64url has several spellings of some numbers. */
function thumbprintOf(key: KeyObject): string {
  const { crv, e, kty, n, x, y } = key.export({ format: 'jwk' });
  // The members that the key's type needs, by name.
  return hash('sha256', JSON.stringify({ crv, e, kty, n, x, y }), 'base64url');
}

function parse(part: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(Buffer.from(part, 'base64url').toString()));
  } catch {
    throw new InvalidProofError('The proof is no JWT.');
  }
}

/** RFC 9449 section 4.3: compared after normalization (RFC 3986 section 6.2), without query and fragment. */
function isSameUrl(claimed: string, url: string): boolean {
  if (claimed === url) return true;
  if (!URL.canParse(claimed)) return false;
  const { origin, pathname, username, password } = new URL(claimed);
  const wanted = new URL(url);
  return (
    origin !== 'null' &&
    origin === wanted.origin &&
    pathname === wanted.pathname &&
    username + password === ''
  );
}
