import type { AuthenticatedClient } from '../clients/client-authentication.ts';
import type { AuthDeps } from '../deps.ts';
import type { TokenSubject } from '../tokens/access-tokens.ts';
import type { Scope } from '../tokens/scopes.ts';
import type { TokenRequest } from '../tokens/token-request.ts';

/** Whom a token is for: the client itself, or a user. */
export type Bearer =
  | { readonly use: 'client' }
  | {
      readonly use: 'member';
      readonly userId: string;
      readonly userKey: bigint;
      /** As it was read with what proved the user: a token of an older one is dead. */
      readonly userEpoch: number;
      readonly customerIds: readonly string[];
      /** When the user proved who they are, in seconds; undefined where the provider does not say. */
      readonly authTime?: number | undefined;
      /** Who asserted the user. */
      readonly provider?: NonNullable<TokenSubject['provider']>;
      /** Of a login that is renewed: its family, and the next refresh token. */
      readonly familyId?: string;
      readonly refreshToken?: string;
    };

/** What a grant leaves of what was asked for. */
export interface Bounds {
  /** Exactly these, where the grant has its own. */
  readonly scopes?: readonly Scope[];
  /** Scopes beyond these are not granted, whatever was asked for; left out: no bound but the client's. */
  readonly maxScopes?: readonly Scope[];
  /** The token lives no longer. */
  readonly maxLifetimeSeconds?: number;
}

/** One way to obtain a token. `authorize` says whom the token is for, or throws OAuthError. */
export interface Grant {
  readonly grantType: string;
  readonly authorize: (
    deps: AuthDeps,
    client: AuthenticatedClient,
    request: TokenRequest,
  ) => Promise<Bearer & Bounds>;
}
