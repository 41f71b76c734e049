/**
 * Who may come in: OAuth clients, members' credentials and their activation, the token operation, access tokens and
 * the keys that sign them.
 *
 * Invariants: secrets are kept only as hashes or sealed; what kind a token is stands in its own claim; whether its
 * bearer still may is read from the database at each request; no answer tells whether a user exists.
 */
export { AccessTokens } from './access-tokens.ts';
export { activateMember, issueActivation, reissueActivation } from './activation.ts';
export { acknowledgeActivationCode, getActivationCode, type HandedOverCode } from './activation-handover.ts';
export { auditedNameHash } from './audited-name.ts';
export { changePassword } from './change-password.ts';
export { ClientDirectory } from './client-directory.ts';
export {
  type ClientKeyAlgorithm,
  clientKeyAlgorithms,
  readPublicKey,
} from './client-keys.ts';
export {
  type ClientChange,
  IdPrefixTakenError,
  type ListedClient,
  type RegistrationRefusals,
  registrationRefusals,
} from './client-queries.ts';
export {
  addClientKey,
  changeClient,
  clientIdRule,
  createClient,
  grantTypes,
  isClientId,
  listClients,
  removeClientKey,
  retireSecrets,
  rotateSecret,
} from './clients.ts';
export { createLogin, setPassword, setStanding } from './credentials.ts';
export type { AuthDeps } from './deps.ts';
export {
  acknowledgeEmailCode,
  confirmEmail,
  getEmailCode,
  issueEmailCode,
  reissueEmailCode,
} from './email-codes.ts';
export { type Caller, type Identified, identify, type Presumed } from './identify.ts';
export { type Introspection, introspectToken } from './introspect-token.ts';
export { issueToken, type TokenResponse } from './issue-token.ts';
export { keepAuthHouse } from './keep-house.ts';
export { type AuthorizationServerMetadata, authorizationServerMetadata } from './metadata.ts';
export { OAuthError } from './oauth-error.ts';
export { PasswordHasher } from './passwords.ts';
export { Pauses } from './pauses.ts';
export { type ProviderKey, readCertificates, readJwks } from './providers/keys.ts';
export {
  type Provider,
  type ProviderKind,
  ProviderRejected,
  providerKinds,
} from './providers/provider.ts';
export { Providers } from './providers/providers.ts';
export { sweepSpentAssertions } from './providers/queries.ts';
export { addProvider, changeProvider, listProviders, removeProvider } from './providers/registry.ts';
export { ResourceTokens } from './providers/resource-tokens.ts';
export { refusalFor } from './registration-refusals.ts';
export { revokeToken } from './revoke-token.ts';
export { memberScopes, parseScope, type Scope, scopes } from './scopes.ts';
export { jwksMaxAgeSeconds, type Rotation, SigningKeys } from './signing-keys.ts';
export { SprayBrake } from './spray-brake.ts';
export type { RawTokenRequest } from './token-request.ts';
export { Turns } from './turns.ts';
export { SealBroken, Vault } from './vault.ts';
