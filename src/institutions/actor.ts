import type { InstitutionId } from '../storage/index.ts';

/**
 * Who acts. A client token acts for its institution within its scopes, a member token for one user.
 * Which of the two it is stands in the token's own claim `token_use` and is never inferred.
 */
export type Actor = ClientActor | MemberActor;

export interface ClientActor {
  readonly kind: 'client';
  readonly institutionId: InstitutionId;
  readonly clientId: string;
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
}
