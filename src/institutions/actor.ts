import type { InstitutionId } from '../storage/index.ts';

/**
 * The acting party. A client token acts for its institution within its scopes, a member token for one user. The token's
 * claim `token_use` names the kind; it is never inferred.
 */
export type Actor = ClientActor | MemberActor;

export interface ClientActor {
  readonly kind: 'client';
  readonly institutionId: InstitutionId;
  readonly clientId: string;
  readonly token?: PresentedToken | undefined;
}

export interface MemberActor {
  readonly kind: 'member';
  readonly institutionId: InstitutionId;
  readonly clientId: string;
  readonly userId: string;
  readonly userKey: bigint;
  readonly personKey: bigint;
  /** When the user last proved who they are; undefined where the token does not tell. */
  readonly authenticatedAt?: Date;
  /** `phr`: the user proved it with a passkey. */
  readonly acr?: 'phr' | undefined;
  readonly token?: PresentedToken | undefined;
}

/** One of our access tokens, with the facts that decide whether it is still active. */
export interface PresentedToken {
  readonly tokenId: string;
  readonly institutionId: InstitutionId;
  readonly clientId: string;
  /** With a member's token. */
  readonly userId?: string;
  /** Epochs of client and user when it was issued; a token with an earlier epoch is inactive. */
  readonly clientEpoch: number;
  readonly userEpoch?: number;
  /** The refresh family that it came from. */
  readonly familyId?: string;
  /** The provider that asserted the user, and its generation then; a changed provider ends the token. */
  readonly provider?: { readonly providerId: string; readonly generation: number };
  /** It was inactive when last checked. */
  isRefused?: boolean;
}
