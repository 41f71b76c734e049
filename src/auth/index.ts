/**
 * OAuth clients, members' credentials and their activation, the token operation, access tokens, and the keys that sign them.
 *
 * Invariants: secrets are stored as hashes or encrypted; the kind of a token is a claim of its own; the database decides at each
 * request whether a token is active; no response reveals whether a user exists.
 */

export { type ActivationForm, activateOnPage } from './authorization/activate-on-page.ts';
export { UnsafeRequestError } from './authorization/authorization-error.ts';
export type { AskedFor } from './authorization/authorization-request.ts';
export {
  answerConsent,
  authorize,
  type Parameters,
  type PushedRequest,
  pushRequest,
  type Step,
  signIn,
  signInWithPasskey,
} from './authorization/authorize.ts';
export { forgottenPassword } from './authorization/forgotten-password.ts';
export { type Logout, logOut, logOutEverywhere } from './authorization/logout.ts';
export { isRedirectUri, redirectUriRule } from './authorization/redirect-uri.ts';
export { signInWithCode } from './authorization/sign-in-with-code.ts';
export type { Presented } from './binding/check-binding.ts';
export { InvalidCertificateError } from './binding/invalid-certificate-error.ts';
export { type ClientCertificate, readCertificatePem } from './binding/read-certificate.ts';
export { auditedNameHash } from './clients/audited-name.ts';
export { ClientDirectory } from './clients/client-directory.ts';
export {
  type ClientKey,
  type ClientKeyAlgorithm,
  clientKeyAlgorithms,
  readPublicKey,
} from './clients/client-keys.ts';
export {
  type ClientChange,
  IdPrefixTakenError,
  type ListedClient,
  type RegistrationRefusals,
  selectAllClientIds,
} from './clients/client-queries.ts';
export {
  addClientCertificate,
  addClientKey,
  changeClient,
  clientIdRule,
  createClient,
  grantTypes,
  isClientId,
  listClients,
  removeClientCertificate,
  removeClientKey,
  retireSecrets,
  rotateSecret,
} from './clients/clients.ts';
export type { SecurityProfile } from './clients/security-profile.ts';
export type { SentChoice } from './consents/account-choice.ts';
export type { ConsentableAccount } from './consents/consent-account-queries.ts';
export {
  type Consent,
  endConsentByOperator,
  listConsents,
  withdrawConsent,
} from './consents/consents.ts';
export { lockConsentsToPay } from './consents/covered-accounts.ts';
export { type Narrowing, narrowConsent } from './consents/narrow-consent.ts';
export { changePassword } from './credentials/change-password.ts';
export { createLogin, endSessions, setPassword, setStanding } from './credentials/credentials.ts';
export { PasswordHasher } from './credentials/passwords.ts';
export { refusalFor } from './credentials/registration-refusals.ts';
export type { AuthDeps } from './deps.ts';
export { ProofNonces } from './dpop/nonces.ts';
export { type ProofOfRequest, proofAlgorithms } from './dpop/proof.ts';
export { UsedProofs } from './dpop/used-proofs.ts';
export { atHost, issuerAt } from './hosts/at-host.ts';
export { type InstitutionHost, InstitutionHosts } from './hosts/institution-hosts.ts';
export {
  insertCellKey,
  selectKeysOfInstitution,
} from './keys/cell-key-queries.ts';
export { selectPublicKeys } from './keys/key-queries.ts';
export { longestTokenSeconds } from './keys/key-states.ts';
export { opensSigningKeys, openVault, replaceLostHashingKey } from './keys/open-vault.ts';
export { InvalidPublicKeyError, type PublicJwk } from './keys/public-keys.ts';
export { resealKeys } from './keys/reseal-keys.ts';
export { openText, sealText } from './keys/sealed-text.ts';
export { signJwt } from './keys/sign-jwt.ts';
export { jwksMaxAgeSeconds, type Rotation, SigningKeys } from './keys/signing-keys.ts';
export { DecryptionError, Vault } from './keys/vault.ts';
export { runAuthMaintenance } from './maintenance.ts';
export {
  activateMember,
  activationCode,
  type DepositOpening,
  issueActivation,
  reissueActivation,
} from './one-time-codes/activation.ts';
export {
  acknowledgeCode,
  type HandedOverCode,
  handOverCode,
} from './one-time-codes/code-handover.ts';
export { confirmEmail, emailCode, issueEmailCode, reissueEmailCode } from './one-time-codes/email-codes.ts';
export { eraseCodes } from './one-time-codes/erase-codes.ts';
export { findCode, issueCode, maxTries, selectorOf } from './one-time-codes/one-time-codes.ts';
export type { ListedPasskey } from './passkeys/passkey-queries.ts';
export { countPasskeys, erasePasskeys, spendChallenge } from './passkeys/passkey-queries.ts';
export { creationOptions, relyingPartyOf, requestOptions } from './passkeys/relying-party.ts';
export {
  credentialIdOf,
  type EnrolledKey,
  userHandleIn,
  verifyAssertion,
  verifyEnrollment,
} from './passkeys/verify-passkey.ts';
export { readCertificates, readJwks } from './providers/keys.ts';
export {
  type Provider,
  type ProviderKind,
  ProviderRejectedError,
  providerKinds,
} from './providers/provider.ts';
export { Providers } from './providers/providers.ts';
export { isIssuerOfProvider, selectAllIssuers } from './providers/queries.ts';
export { addProvider, changeProvider, listProviders, removeProvider } from './providers/registry.ts';
export { deleteExpiredAssertions } from './providers/replay-cache.ts';
export { ResourceTokens } from './providers/resource-tokens.ts';
export { deleteAuthenticator } from './second-factor/authenticator-queries.ts';
export type { CodeAttempt } from './second-factor/prove-code.ts';
export { removeSecondFactor } from './second-factor/remove-second-factor.ts';
export { firstSecretPlace, resealAuthenticators } from './second-factor/sealed-secret.ts';
export type { Accesses } from './security/accesses.ts';
export { type MeansOfMember, meansOfMember } from './security/means-of-member.ts';
export {
  beginAuthenticator,
  confirmAuthenticator,
  removeAuthenticator,
  renewRecoveryCodes,
} from './security/second-factor-page.ts';
export {
  addPasskey,
  endAccessOnPage,
  narrowConsentOnPage,
  openSecurityPage,
  removePasskey,
  securityPath,
} from './security/security-page.ts';
export { type Browser, type NewCookies, newSecret } from './sessions/browser.ts';
export { clientSessionId } from './sessions/client-session-id.ts';
export { eraseDevices } from './sign-in/device-queries.ts';
export { LoginBackoff } from './sign-in/login-backoff.ts';
export { SprayBrake } from './sign-in/spray-brake.ts';
export { tooManyLogins } from './sign-in/too-many-logins.ts';
export { AccessTokens } from './tokens/access-tokens.ts';
export { inactiveTokens } from './tokens/active-token.ts';
export { type Identified, identify } from './tokens/identify.ts';
export { type Introspection, introspectToken } from './tokens/introspect-token.ts';
export { issueToken, type TokenResponse } from './tokens/issue-token.ts';
export {
  type AuthorizationServerMetadata,
  authorizationServerMetadata,
  type MutualTls,
} from './tokens/metadata.ts';
export { OAuthError } from './tokens/oauth-error.ts';
export type { Caller } from './tokens/remembered-caller.ts';
export { revokeToken } from './tokens/revoke-token.ts';
export { memberScopes, parseScope, type Scope, scopes } from './tokens/scopes.ts';
export type { RawTokenRequest } from './tokens/token-request.ts';
