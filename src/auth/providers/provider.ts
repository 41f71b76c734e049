import type { UserIdType } from '../../members/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import type { PublicJwk } from '../keys/public-keys.ts';
import type { Scope } from '../tokens/scopes.ts';

export const providerKinds = ['jwt', 'saml'] as const;
export type ProviderKind = (typeof providerKinds)[number];

/** The settings that an institution may change. Each change makes a new generation and ends the tokens of older ones. */
export interface ProviderSettings {
  readonly keys: readonly PublicJwk[];
  /** The claim of a JWT, or the NameID Format of a SAML assertion, that names the member. */
  readonly subjectFrom: string;
  /** The type of that id. */
  readonly userIdType: UserIdType;
  /** The scopes that a member on its word may have. */
  readonly scopes: readonly Scope[];
  /** Whether its own access tokens (RFC 9068) are accepted; kind `jwt` only. */
  readonly resourceTokens: boolean;
  /** The required `typ` of those tokens. */
  readonly tokenType: string;
  readonly active: boolean;
}

/** Kind, issuer and audience never change. */
export interface NewProvider extends ProviderSettings {
  readonly providerId: string;
  readonly kind: ProviderKind;
  /** `iss` of its JWTs, or the entity ID in the Issuer of its assertions. */
  readonly issuer: string;
  /** The required audience of its assertions and tokens: a name of this service that the institution chooses. */
  readonly audience: string;
}

/** An identity provider that an institution registered. */
export interface Provider extends NewProvider {
  readonly institutionId: InstitutionId;
  readonly generation: number;
  /** The time of its registration, or of its last switch off or on. Its own access tokens must have been issued later. */
  readonly tokensEndedAt: Date;
}

/** A provider cannot be registered or changed. The message is one sentence for the operator. */
export class ProviderRejectedError extends Error {
  override readonly name = 'ProviderRejectedError';
}
