/** What the audit is told of a refusal and the caller is not. */
export interface RefusalFacts {
  /** A word of our own; the error's code when left out. */
  readonly reason?: string;
  readonly userId?: string;
  /** Of a name that nobody has. */
  readonly nameHash?: Uint8Array;
}

/** RFC 6749 section 5.2: how a token request is refused. The description is for the caller. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  readonly error:
    | 'invalid_request'
    | 'invalid_client'
    | 'invalid_grant'
    | 'unauthorized_client'
    | 'unsupported_grant_type'
    | 'invalid_scope';
  readonly description: string;

  readonly facts: RefusalFacts;

  constructor(error: OAuthError['error'], description: string, facts: RefusalFacts = {}) {
    super(`${error}: ${description}`);
    this.error = error;
    this.description = description;
    this.facts = facts;
  }
}
