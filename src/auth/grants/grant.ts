import type { TokenSubject } from '../access-tokens.ts';
import type { AuthenticatedClient } from '../client-authentication.ts';
import type { AuthDeps } from '../deps.ts';
import type { Scope } from '../scopes.ts';
import type { TokenRequest } from '../token-request.ts';

/** Whom a token is for. */
export interface Bearer extends Pick<TokenSubject, 'use' | 'userId' | 'customerIds' | 'provider'> {
  /** Scopes beyond these are not granted, whatever was asked for; left out: no bound but the client's. */
  readonly mostScopes?: readonly Scope[];
  /** The token lives no longer. */
  readonly mostSeconds?: number;
}

/** One way to obtain a token. `authorize` says whom the token is for, or throws OAuthError. */
export interface Grant {
  readonly grantType: string;
  readonly authorize: (deps: AuthDeps, client: AuthenticatedClient, request: TokenRequest) => Promise<Bearer>;
}
