/** A DPoP proof that is refused. `use_dpop_nonce`: the same request with the nonce of the response is accepted (RFC 9449 section 8). */
export class InvalidProofError extends Error {
  override readonly name = 'InvalidProofError';
  readonly code: 'invalid_dpop_proof' | 'use_dpop_nonce';

  constructor(message: string, code: InvalidProofError['code'] = 'invalid_dpop_proof') {
    super(message);
    this.code = code;
  }
}
