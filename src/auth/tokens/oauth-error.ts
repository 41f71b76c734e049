/** Facts of a refusal for the audit, hidden from the caller. */
export interface RefusalFacts {
  /** The reason in the audit; by default the error's code. */
  readonly reason?: string;
  readonly userId?: string;
  /** The provider whose assertion was refused. */
  readonly subject?: string;
  /** The hash of an unknown username. */
  readonly nameHash?: Uint8Array;
}

/** The refusal of a token request (RFC 6749 section 5.2). The description is for the caller. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  readonly error:
    | 'invalid_request'
    | 'invalid_client'
    | 'invalid_grant'
    | 'unauthorized_client'
    | 'unsupported_grant_type'
    | 'invalid_scope'
    // RFC 9449 section 5.
    | 'invalid_dpop_proof'
    | 'use_dpop_nonce';
  readonly description: string;

  readonly facts: RefusalFacts;

  constructor(error: OAuthError['error'], description: string, facts: RefusalFacts = {}) {
    super(`${error}: ${description}`);
    this.error = error;
    this.description = description;
    this.facts = facts;
  }
}
