import type { Acr } from '../../institutions/index.ts';
import type { Confirmation } from '../binding/confirmation.ts';
import type { AuthenticatedClient } from '../clients/client-authentication.ts';
import type { AuthDeps } from '../deps.ts';
import type { TokenSubject } from '../tokens/access-tokens.ts';
import type { Scope } from '../tokens/scopes.ts';
import type { TokenRequest } from '../tokens/token-request.ts';

/** The holder of a new token: the client itself, or a user. */
export type TokenHolder =
  | { readonly use: 'client' }
  | {
      readonly use: 'member';
      readonly userId: string;
      readonly userKey: bigint;
      /** Read together with the proof of identity; a later epoch ends the token. */
      readonly userEpoch: number;
      readonly customerIds: readonly string[];
      /** The time at which the user proved their identity, in seconds; undefined if the provider does not state it. */
      readonly authTime?: number | undefined;
      /** How they proved it (RFC 8176); empty if unknown. */
      readonly methods: readonly string[];
      /** The class of these methods; undefined for a password alone, and for an asserted member. */
      readonly acr?: Acr | undefined;
      /** The provider that asserted the user. */
      readonly provider?: NonNullable<TokenSubject['provider']>;
      /** The family of a login that is renewed, and its next refresh token. */
      readonly familyId?: string;
      readonly refreshToken?: string;
      /** The consent on which the token stands. */
      readonly consentId?: string;
    };

/** The grant's limits on the token. */
export interface GrantLimits {
  /** The grant decides the scopes by itself. */
  readonly scopes?: readonly Scope[];
  /** Scopes outside of these are not granted. */
  readonly maxScopes?: readonly Scope[];
  readonly maxLifetimeSeconds?: number;
  /** An ID token stands beside the access token if the scope `openid` is granted. */
  readonly idToken?: { readonly nonce: string | null; readonly sessionId: string };
}

/** One way to obtain a token. `authorize` returns the token's holder, or throws OAuthError. */
export interface Grant {
  readonly grantType: string;
  readonly authorize: (
    deps: AuthDeps,
    client: AuthenticatedClient,
    request: TokenRequest,
    /** The key or certificate that the token is to be bound to. */
    confirmation: Confirmation | undefined,
  ) => Promise<TokenHolder & GrantLimits>;
}
