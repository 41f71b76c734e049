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

  constructor(error: OAuthError['error'], description: string) {
    super(`${error}: ${description}`);
    this.error = error;
    this.description = description;
  }
}
