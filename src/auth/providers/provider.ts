import type { UserIdType } from '../../members/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import type { Scope } from '../tokens/scopes.ts';
import type { ProviderKey } from './keys.ts';

export const providerKinds = ['jwt', 'saml'] as const;
export type ProviderKind = (typeof providerKinds)[number];

/** What an institution may change of a provider. Any change is a new generation, and ends what was made before it. */
export interface ProviderSettings {
  readonly keys: readonly ProviderKey[];
  /** The claim of a JWT or the NameID Format of a SAML assertion that names the customer. */
  readonly subjectFrom: string;
  /** What kind of id stands there. */
  readonly userIdType: UserIdType;
  /** The most that an identity asserted by it may do. */
  readonly scopes: readonly Scope[];
  /** Whether its own access tokens (RFC 9068) open resources here; only of kind `jwt`. */
  readonly resourceTokens: boolean;
  /** The `typ` that those must have. */
  readonly tokenType: string;
  readonly active: boolean;
}

/** Its kind, issuer and audience never change: that would be another provider. */
export interface NewProvider extends ProviderSettings {
  readonly providerId: string;
  readonly kind: ProviderKind;
  /** `iss` of its JWTs, or the entity ID in its assertions' Issuer. */
  readonly issuer: string;
  /** What its assertions and tokens must be meant for: us, by a name of the institution's choice. */
  readonly audience: string;
}

/** An identity provider that an institution registered. */
export interface Provider extends NewProvider {
  readonly institutionId: InstitutionId;
  readonly generation: number;
  /** Its own access tokens are accepted if they were issued later: it was switched off or on, or registered, then. */
  readonly tokensEndedAt: Date;
}

/** Why a provider cannot be registered as asked; one sentence for the operator. */
export class ProviderRejectedError extends Error {
  override readonly name = 'ProviderRejectedError';
}
