import type { TokenSubject } from '../access-tokens.ts';
import type { AuthenticatedClient } from '../client-authentication.ts';
import type { AuthDeps } from '../deps.ts';
import type { TokenRequest } from '../token-request.ts';

/** One way to obtain a token. `authorize` says whom the token is for, or throws OAuthError. */
export interface Grant {
  readonly grantType: string;
  readonly authorize: (
    deps: AuthDeps,
    client: AuthenticatedClient,
    request: TokenRequest,
  ) => Promise<Pick<TokenSubject, 'use' | 'userId' | 'customerIds'>>;
}
