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
  /** How they proved it; undefined for a password alone. */
  readonly acr?: Acr | undefined;
  readonly token?: PresentedToken | undefined;
  /** The consent on which the token of an app stands; undefined if it needs none. */
  readonly consent?: CoveredAccounts | undefined;
}

/** The accounts that a consent covers, as last read: of its named accounts those that the member holds. */
export interface CoveredAccounts {
  readonly consentId: string;
  /** Grows with each change of the consent. */
  readonly version: number;
  /** Null: every account of the member. */
  readonly accountKeys: readonly bigint[] | null;
  /** Those from which the app may pay. */
  readonly payingKeys: readonly bigint[] | null;
}

/** A password with a code, which can be phished. PAPE 1.0, section 4, names the class. */
export const multiFactor = 'http://schemas.openid.net/pape/policies/2007/06/multi-factor';

/** Acts for which an institution may want a more recent sign-in: `step_up` of the problem, and of the request for authorization after it. */
export const stepUpActs = ['contact_change', 'transfer_amount', 'transfer_destination'] as const;
export type StepUpAct = (typeof stepUpActs)[number];

/** The class of a sign-in (the claim `acr`). `phr`: with a passkey, which no other site can use. */
export type Acr = 'phr' | typeof multiFactor;

export function isAcr(value: unknown): value is Acr {
  return value === 'phr' || value === multiFactor;
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
  /** The consent on which it stands. */
  readonly consentId?: string;
  /** The provider that asserted the user, and its generation then; a changed provider ends the token. */
  readonly provider?: { readonly providerId: string; readonly generation: number };
  /** It was inactive when last checked. */
  isRefused?: boolean;
}

/** The accounts that a caller may see of those that it could: null for all of them. */
export function coveredKeys(actor: Actor): readonly bigint[] | null {
  return actor.kind === 'member' ? (actor.consent?.accountKeys ?? null) : null;
}
