/**
 * A request that cannot return to the app, since its client or its address is not certain (RFC 6749 section 4.1.2.1). The member
 * reads it on a page.
 */
export class UnsafeRequestError extends Error {
  override readonly name = 'UnsafeRequestError';
}

/** A refusal that the app reads in the address (RFC 6749 section 4.1.2.1, OpenID Connect Core 1.0 section 3.1.2.6). */
export class AuthorizationError extends Error {
  override readonly name = 'AuthorizationError';
  readonly error: AuthorizationErrorCode;

  constructor(error: AuthorizationErrorCode, description: string) {
    super(description);
    this.error = error;
  }
}

export type AuthorizationErrorCode =
  | 'invalid_request'
  | 'unauthorized_client'
  | 'access_denied'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'login_required'
  | 'consent_required'
  | 'interaction_required'
  | 'request_not_supported'
  | 'registration_not_supported';
