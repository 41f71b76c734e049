import type { AuthenticatedClient } from '../clients/client-authentication.ts';
import type { AuthDeps } from '../deps.ts';
import { checkBoundToken, useProof } from '../dpop/check-proof.ts';
import type { Proof, ProofOfRequest } from '../dpop/proof.ts';
import { invalidToken, type VerifiedToken } from '../tokens/access-tokens.ts';
import { OAuthError } from '../tokens/oauth-error.ts';
import type { RawTokenRequest } from '../tokens/token-request.ts';
import { type Confirmation, certificateConfirmation, keyConfirmation } from './confirmation.ts';
import { InvalidCertificateError } from './invalid-certificate-error.ts';
import { type ClientCertificate, readClientCert } from './read-certificate.ts';

/** The proofs of a key or a certificate that stand beside an access token. */
export interface Presented {
  /** With the scheme DPoP. */
  readonly proof?: ProofOfRequest | undefined;
  /** The header `Client-Cert` of a trusted proxy. */
  readonly certificate?: string | undefined;
}

/**
 * RFC 9449 section 7.1 and RFC 8705 section 3: a bound token comes with its key or its certificate. Throws at once for one that does not fit;
 * the promise rejects for a proof that was used before. Undefined for a token that needs no proof of a key.
 */
export function checkBinding(
  deps: Pick<AuthDeps, 'clock' | 'proofNonces' | 'usedProofs'>,
  token: Pick<VerifiedToken, 'institutionId' | 'confirmation'>,
  { text, proof, certificate }: Presented & { readonly text: string },
): Promise<void> | undefined {
  const { confirmation } = token;
  if (confirmation?.method !== 'x5t#S256') return checkBoundToken(deps, token, { text, proof });
  if (proof !== undefined) throw invalidToken('it is bound to a certificate, and came as DPoP');
  if (certificate === undefined) throw invalidToken('it is bound to a certificate, and came without one');
  if (readOrRefuse(certificate, deps.clock()).thumbprint !== confirmation.thumbprint) {
    throw invalidToken('it is bound to another certificate');
  }
  return undefined;
}

function readOrRefuse(certificate: string, now: Date): ClientCertificate {
  try {
    return readClientCert(certificate, now);
  } catch (error) {
    throw error instanceof InvalidCertificateError ? invalidToken(error) : error;
  }
}

/**
 * The confirmation of the tokens that an authenticated client asks for; undefined for bearer tokens. Uses up the proof. Throws OAuthError, also
 * if the client's tokens are to be bound and the request has nothing to bind them to.
 */
export async function confirmRequest(
  deps: Pick<AuthDeps, 'clock' | 'proofNonces' | 'usedProofs'>,
  client: AuthenticatedClient,
  { proof, certificate }: Pick<RawTokenRequest, 'certificate'> & { readonly proof: Proof | undefined },
): Promise<Confirmation | undefined> {
  const keyThumbprint = await useProof(deps, client, proof);
  if (!client.bindsToCertificate) {
    return keyThumbprint === undefined ? undefined : keyConfirmation(keyThumbprint);
  }
  if (certificate === undefined) {
    throw new OAuthError('invalid_request', 'The client must send a certificate with its TLS connection.');
  }
  try {
    return certificateConfirmation(readClientCert(certificate, deps.clock()).thumbprint);
  } catch (error) {
    if (!(error instanceof InvalidCertificateError)) throw error;
    throw new OAuthError('invalid_request', `The client certificate is refused: ${error.message}.`);
  }
}
