import { Problem } from '../../shared/problem.ts';
import type { InstitutionId } from '../../storage/index.ts';
import { keyThumbprintOf } from '../binding/confirmation.ts';
import type { AuthenticatedClient } from '../clients/client-authentication.ts';
import type { AuthDeps } from '../deps.ts';
import { invalidToken, type VerifiedToken } from '../tokens/access-tokens.ts';
import { OAuthError } from '../tokens/oauth-error.ts';
import type { RawTokenRequest } from '../tokens/token-request.ts';
import { InvalidProofError } from './invalid-proof-error.ts';
import { type Proof, type ProofOfRequest, requireJwt, verifyProof } from './proof.ts';

type ProofDeps = Pick<AuthDeps, 'clock' | 'proofNonces' | 'usedProofs'>;

/**
 * RFC 9449 section 7.1: a bound token comes with a proof of its key, and a token that is bound to none without. Throws at once for a proof that
 * does not fit; the promise rejects for one that was used before. Undefined for a token that is bound to no key.
 */
export function checkBoundToken(
  deps: ProofDeps,
  token: Pick<VerifiedToken, 'institutionId' | 'confirmation'>,
  { text, proof }: { readonly text: string; readonly proof: ProofOfRequest | undefined },
): Promise<void> | undefined {
  const { institutionId, confirmation } = token;
  const keyThumbprint = keyThumbprintOf(confirmation);
  if (keyThumbprint === undefined && proof === undefined) return undefined;
  if (keyThumbprint === undefined) throw invalidToken('it is bound to no key, and came as DPoP');
  if (proof === undefined) throw invalidToken('it is bound to a key, and came as Bearer');
  try {
    const { clock, proofNonces, usedProofs } = deps;
    const nowMillis = clock().getTime();
    const read = verifyProof(proof, { accessToken: text, isNonce: proofNonces.isCurrent, nowMillis });
    if (read.thumbprint !== keyThumbprint) throw invalidToken('it is bound to another key');
    const using = usedProofs.use(institutionId, read).catch((error) => {
      throw problemOf(error);
    });
    // The request may be refused for another reason before it waits for this.
    using.catch(() => {});
    return using;
  } catch (error) {
    throw problemOf(error);
  }
}

/** Refuses a request of the scheme DPoP without a proof before its token is read. */
export function requireProof({ text }: ProofOfRequest): void {
  try {
    requireJwt(text);
  } catch (error) {
    throw problemOf(error);
  }
}

function problemOf(error: unknown): unknown {
  return error instanceof InvalidProofError ? new Problem(error.code, error.message) : error;
}

/**
 * The proof of a request for tokens, before the client has authenticated; undefined without one. A nonce is asked for before a code or an
 * assertion is used up. Throws OAuthError.
 */
export function readProof(
  { clock, proofNonces }: ProofDeps,
  { proof }: Pick<RawTokenRequest, 'proof'>,
): Proof | undefined {
  if (proof === undefined) return undefined;
  try {
    return verifyProof(proof, { isNonce: proofNonces.isCurrent, nowMillis: clock().getTime() });
  } catch (error) {
    throw oauthErrorOf(error);
  }
}

/**
 * Uses up the proof of an authenticated client. Throws OAuthError; also if there is none and the client must prove a key, and if its tokens are
 * bound to a certificate instead.
 */
export async function useProof(
  { usedProofs }: ProofDeps,
  {
    institutionId,
    requiresDpop,
    bindsToCertificate,
  }: Pick<AuthenticatedClient, 'institutionId' | 'requiresDpop' | 'bindsToCertificate'>,
  proof: Proof | undefined,
): Promise<string | undefined> {
  if (proof === undefined) {
    if (requiresDpop)
      throw new OAuthError('invalid_dpop_proof', 'The client must send a proof: the header DPoP.');
    return undefined;
  }
  if (bindsToCertificate) {
    throw new OAuthError(
      'invalid_dpop_proof',
      'The tokens of this client are bound to its certificate: leave out the header DPoP.',
    );
  }
  await use(usedProofs, institutionId, proof);
  return proof.thumbprint;
}

async function use(
  usedProofs: AuthDeps['usedProofs'],
  institutionId: InstitutionId,
  proof: Proof,
): Promise<void> {
  await usedProofs.use(institutionId, proof).catch((error) => {
    throw oauthErrorOf(error);
  });
}

function oauthErrorOf(error: unknown): unknown {
  return error instanceof InvalidProofError ? new OAuthError(error.code, error.message) : error;
}
