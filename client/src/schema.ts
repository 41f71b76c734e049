// Generated from openapi.json by `npm run generate`.

/** A number of any size as its digits, for instance `'105.25'`: no amount passes through a float. */
export type Decimal = string;

export interface TokenRequest {
  /** One of `authorization_code`, `client_credentials`, `password`, `refresh_token`, `urn:ietf:params:oauth:grant-type:jwt-bearer`, `urn:ietf:params:oauth:grant-type:saml2-bearer`. */
  grant_type: string;
  /** In the body or in HTTP Basic; with an assertion it may be left out. Alone for a public client, and for one that authenticates by the certificate of its connection (RFC 8705). */
  client_id?: string | undefined;
  /** In the body or in HTTP Basic, never in both. */
  client_secret?: string | undefined;
  /** Instead of a secret: `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`. */
  client_assertion_type?: string | undefined;
  /** A JWT signed with a key that the client is registered with (RFC 7523). `iss` and `sub` are the client id, `aud` our issuer as a single string, `exp` at most five minutes ahead, `jti` never used before. */
  client_assertion?: string | undefined;
  /** Requested scopes, separated by spaces. Default: all scopes of the client except `offline_access`. With `refresh_token`: a subset of the scopes of the login; default: all of them. */
  scope?: string | undefined;
  /** Needed with `password`. */
  username?: string | undefined;
  /** Needed with `password`. */
  password?: string | undefined;
  /** With `password`: the id that the app gave the device, at most 256 characters. The member gets an alert about a new one. With a DPoP proof, its key names the device instead. Without both, all devices of the app are one. */
  device_id?: string | undefined;
  /** Required by the two assertion grants: the JWT (RFC 7523), or the SAML 2.0 assertion in base64url (RFC 7522), with which a registered identity provider identifies the member. */
  assertion?: string | undefined;
  /** Required by `refresh_token`. */
  refresh_token?: string | undefined;
  /** Required by `authorization_code`. */
  code?: string | undefined;
  /** Required by `authorization_code` (RFC 7636). */
  code_verifier?: string | undefined;
  /** With `authorization_code`: if sent, that of the authorization request. */
  redirect_uri?: string | undefined;
}

export interface TokenResponse {
  /** Bearer token to send with every later request. */
  access_token: string;
  /** `Bearer`; `DPoP` for a request with a proof (RFC 9449). */
  token_type: string;
  /** Lifetime in seconds. */
  expires_in: number;
  /** Granted scopes, separated by spaces. */
  scope: string;
  /** With a code and the scope `openid`: tells the client who signed in. */
  id_token?: string | undefined;
  /** Valid for one refresh. Issued for a member only, if `offline_access` was requested and the client may have it. */
  refresh_token?: string | undefined;
}

export interface TokenReference {
  /** An access token or a refresh token. */
  token: string;
  /** `access_token` or `refresh_token`; not needed. */
  token_type_hint?: string | undefined;
  /** In the body or in HTTP Basic; with an assertion it may be left out. Alone for a public client, and for one that authenticates by the certificate of its connection (RFC 8705). */
  client_id?: string | undefined;
  /** In the body or in HTTP Basic, never in both. */
  client_secret?: string | undefined;
  /** Instead of a secret: `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`. */
  client_assertion_type?: string | undefined;
  /** A JWT signed with a key that the client is registered with (RFC 7523). `iss` and `sub` are the client id, `aud` our issuer as a single string, `exp` at most five minutes ahead, `jti` never used before. */
  client_assertion?: string | undefined;
}

/** The key or the certificate that the token is bound to: one of these members. */
export interface TokenConfirmation {
  /** SHA-256 of the key (RFC 7638). */
  jkt?: string | undefined;
  /** SHA-256 of the certificate (RFC 8705, section 3.1). */
  'x5t#S256'?: string | undefined;
}

export interface TokenIntrospection {
  /** If false, the response has no other member. */
  active: boolean;
  /** Separated by spaces. */
  scope?: string | undefined;
  /** The client it was issued to. */
  client_id?: string | undefined;
  /** `Bearer` or `DPoP`, of an access token. One that is bound to a certificate is `Bearer`. */
  token_type?: string | undefined;
  cnf?: TokenConfirmation | undefined;
  /** Expiry; of a refresh token, expiry if it stays unused. Seconds since 1970. */
  exp?: number | undefined;
  /** Time of issue; of a refresh token, start of its login. Seconds since 1970. */
  iat?: number | undefined;
  /** The user of a member token, else the client. */
  sub?: string | undefined;
  /** Our issuer. */
  aud?: string | undefined;
  /** Our issuer. */
  iss?: string | undefined;
  /** Of an access token. */
  jti?: string | undefined;
  institution_id?: number | undefined;
  /** `client` or `member`. */
  token_use?: string | undefined;
  /** Time of the member’s login, if known. Seconds since 1970. */
  auth_time?: number | undefined;
  /** `phr`: the member signed in with a passkey; `http://schemas.openid.net/pape/policies/2007/06/multi-factor`: with a password and a code (RFC 9470). */
  acr?: string | undefined;
  /** How the member signed in, if known (RFC 8176): `pwd` password, `otp` code, `hwk` or `swk` passkey, `user` presence verified by the device, `mfa` several. */
  amr?: readonly string[] | undefined;
}

export interface PushedAuthorizationRequest {
  /** In the body or in HTTP Basic; with an assertion it may be left out. Alone for a public client, and for one that authenticates by the certificate of its connection (RFC 8705). */
  client_id?: string | undefined;
  /** In the body or in HTTP Basic, never in both. */
  client_secret?: string | undefined;
  /** Instead of a secret: `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`. */
  client_assertion_type?: string | undefined;
  /** A JWT signed with a key that the client is registered with (RFC 7523). `iss` and `sub` are the client id, `aud` our issuer as a single string, `exp` at most five minutes ahead, `jti` never used before. */
  client_assertion?: string | undefined;
  /** `code`. */
  response_type: string;
  /** One that is registered for the client. */
  redirect_uri: string;
  /** Requested scopes, separated by spaces. */
  scope?: string | undefined;
  /** Returned as it is. */
  state?: string | undefined;
  /** Returned in the ID token. */
  nonce?: string | undefined;
  /** SHA-256 of the verifier in base64url (RFC 7636). */
  code_challenge: string;
  /** `S256`. */
  code_challenge_method: string;
  /** The thumbprint of the key that the tokens are to be bound to (RFC 9449 section 10). */
  dpop_jkt?: string | undefined;
  /** `none`, `login`, `consent`, `select_account`. */
  prompt?: string | undefined;
  /** The longest age of the sign-in, in seconds. */
  max_age?: string | undefined;
  /** A username for the page. */
  login_hint?: string | undefined;
}

export interface PushedAuthorizationResponse {
  /** The name of the request, for `GET /auth/v2/authorize`. */
  request_uri: string;
  /** Seconds for which the name can be opened. */
  expires_in: number;
}

export interface UserInfo {
  /** The user id, the same as in the ID token. */
  sub: string;
  /** Present with the scope `profile`. */
  name?: string | undefined;
  /** Present with the scope `profile`. */
  given_name?: string | undefined;
  /** Present with the scope `profile`. */
  family_name?: string | undefined;
  /** Present with the scope `email`. */
  email?: string | undefined;
}

export interface Consent {
  /** The id of the consent. */
  consentId: string;
  /** The app. */
  clientId: string;
  /** The name of the app, for people. */
  clientName: string;
  /** The scopes that the app may have. */
  scopes: readonly string[];
  /** The app may use every account of the member, also those of later. */
  allAccounts: boolean;
  /** The accounts that the app may use, unless it may use all; an app reads those that its own consent covers. */
  accounts: readonly ConsentAccount[];
  /** When the member consented. */
  grantedAt: string;
  /** When the consent ends by itself. */
  expiresAt: string;
}

export interface ConsentAccount {
  /** The account. */
  accountId: string;
  /** With the scope transfer:write: the app may pay from the account. */
  mayPay: boolean;
}

export interface ConsentEnd {
  /** The id of the consent. */
  consentId: string;
  /** Always true. */
  ended: boolean;
}

export interface ConsentNarrowing {
  /** Accounts that the app no longer sees. */
  removeAccountIds?: readonly string[] | undefined;
  /** Accounts that the app goes on seeing, and no longer pays from. */
  removePayingAccountIds?: readonly string[] | undefined;
  /** Scopes that the app loses. */
  removeScopes?: readonly string[] | undefined;
}

export interface AuthorizationServerMetadata {
  /** Issuer and audience of every token. */
  issuer: string;
  /** The page on which a member signs in and consents. */
  authorization_endpoint: string;
  /** Takes a request from the client itself (RFC 9126). */
  pushed_authorization_request_endpoint: string;
  /** False: needed of clients of the FAPI 2.0 profile only. */
  require_pushed_authorization_requests: boolean;
  /** The token operation. */
  token_endpoint: string;
  /** The claims of the member. */
  userinfo_endpoint: string;
  /** The page on which a member signs out. */
  end_session_endpoint: string;
  /** Clients with an address for that hear of the end of a session. */
  backchannel_logout_supported: boolean;
  /** ID tokens and logout tokens carry `sid`. */
  backchannel_logout_session_supported: boolean;
  /** Ends a token before its time. */
  revocation_endpoint: string;
  /** Returns whether a token is active. */
  introspection_endpoint: string;
  /** The public keys that verify tokens. */
  jwks_uri: string;
  /** Every scope; each client is registered for some of them. */
  scopes_supported: readonly string[];
  /** `code`. */
  response_types_supported: readonly string[];
  /** `query`. */
  response_modes_supported: readonly string[];
  /** `S256`; every request needs a challenge. */
  code_challenge_methods_supported: readonly string[];
  /** Values of `prompt`. */
  prompt_values_supported: readonly string[];
  /** Responses carry `iss` (RFC 9207). */
  authorization_response_iss_parameter_supported: boolean;
  /** Algorithms of proofs (RFC 9449). */
  dpop_signing_alg_values_supported: readonly string[];
  /** False: no request objects. */
  request_parameter_supported: boolean;
  /** False: only a `request_uri` of a pushed request. */
  request_uri_parameter_supported: boolean;
  /** False. */
  claims_parameter_supported: boolean;
  /** Values of `acr_values`: `phr` is a passkey; the other is a password with a code. */
  acr_values_supported: readonly string[];
  /** Claims of ID tokens and of the member. */
  claims_supported: readonly string[];
  /** `public`: `sub` is the same to every client. */
  subject_types_supported: readonly string[];
  /** For ID tokens. */
  id_token_signing_alg_values_supported: readonly string[];
  /** Every grant; each client is registered for some of them. */
  grant_types_supported: readonly string[];
  /** Methods of client authentication. */
  token_endpoint_auth_methods_supported: readonly string[];
  /** For `private_key_jwt`. */
  token_endpoint_auth_signing_alg_values_supported: readonly string[];
  /** As for tokens. */
  revocation_endpoint_auth_methods_supported: readonly string[];
  /** As for tokens. */
  revocation_endpoint_auth_signing_alg_values_supported: readonly string[];
  /** As for tokens. */
  introspection_endpoint_auth_methods_supported: readonly string[];
  /** As for tokens. */
  introspection_endpoint_auth_signing_alg_values_supported: readonly string[];
  /** Tokens may be bound to the certificate of the client (RFC 8705). */
  tls_client_certificate_bound_access_tokens: boolean;
  /** Addresses of some endpoints for clients with a certificate (RFC 8705, section 5). */
  mtls_endpoint_aliases?: object | undefined;
  /** For people. */
  service_documentation: string;
}

export interface JwkSet {
  keys: readonly Jwk[];
}

export interface Jwk {
  /** `EC`. */
  kty: string;
  /** `P-256`. */
  crv: string;
  x: string;
  y: string;
  /** In the header of each token that the key signed. */
  kid: string;
  /** `ES256`. */
  alg: string;
  /** `sig`. */
  use: string;
}

export interface MemberRegistration {
  /** Core member number. */
  memberNumber: string;
  email: string;
  firstName?: string | undefined;
  lastName?: string | undefined;
  /** Must not contradict the core’s record. An institution may require it if the core has no e-mail address. */
  birthDate?: string | undefined;
}

export interface MemberActivation {
  /** One-time code of the registration. */
  activationCode: string;
  /** 6 to 64 characters, compared without regard to case. */
  username: string;
  /** 15 to 128 characters, or as the institution has set. */
  password: string;
}

export interface PasswordChange {
  /** The current password of the member. */
  currentPassword: string;
  /** 15 to 128 characters, or as the institution has set, and hard to guess. */
  newPassword: string;
}

export interface ContactChange {
  emailAddress?: string | undefined;
  /** Stored in E.164. */
  phoneNumber?: string | undefined;
  phoneType?: PhoneType | undefined;
}

export interface EmailConfirmation {
  /** One-time code from the message. */
  emailCode: string;
}

export interface CodeDelivery {
  eventId: string;
  /** `true`. */
  delivered: boolean;
}

/** One act of the core on an account: a line of the stream. */
export interface CoreTransaction {
  /** The core's id of the transaction, used up for ever; of an authorization its id. */
  id: string;
  /** AUTHORIZED holds the amount, CHANGED holds another one, RELEASED ends the hold. Default: POSTED. */
  status?: 'POSTED' | 'AUTHORIZED' | 'CHANGED' | 'RELEASED' | undefined;
  /** The account. */
  accountId: string;
  /** In major units. A credit to the member's position is positive. Only RELEASED may omit it. */
  amount?: Decimal | undefined;
  /** The currency of the account. */
  currencyCode: string;
  /** The kind of posting. Only RELEASED may omit it. */
  kind?: 'CARD' | 'ACH_CREDIT' | 'ACH_DEBIT' | 'CHECK' | 'FEE' | 'INTEREST' | 'DIVIDEND' | 'ATM' | 'TELLER' | 'WIRE' | 'LOAN_PAYMENT' | 'TRANSFER' | 'ADJUSTMENT' | undefined;
  /** The time at the core. */
  postedAt: string;
  /** The business date. Default: the day of postedAt in the institution's zone. */
  effectiveDate?: string | undefined;
  /** As the member reads it. Required with POSTED and AUTHORIZED. */
  description?: string | undefined;
  /** The number of a check. */
  checkNumber?: string | undefined;
  /** The merchant of a card payment. */
  merchant?: string | undefined;
  /** The kind of spending. */
  category?: string | undefined;
  /** The balance that the core states after it. */
  runningBalance?: Decimal | undefined;
  /** The transfer of this service of which it is the echo. */
  transferId?: string | undefined;
  /** The authorization that the posting ends. */
  authorizationId?: string | undefined;
  /** When an authorization ends by itself. */
  expiresAt?: string | undefined;
  /** `true`: imported as history, without an event. */
  historic?: boolean | undefined;
}

/** One record of the core: a line of the stream. An omitted field is unchanged, null removes its value (RFC 7396). */
export interface CoreRecord {
  /** The kind of record, which decides the fields that it may have. */
  record: 'person' | 'member' | 'memberPerson' | 'account' | 'holder';
  /** person, memberPerson, holder: the person. */
  personId?: string | undefined;
  /** person: first name. */
  firstName?: unknown | undefined;
  /** person: last name; a new person needs one. */
  lastName?: unknown | undefined;
  /** person: e-mail address. */
  email?: unknown | undefined;
  /** person: phone number (E.164), together with phoneType. */
  phoneNumber?: unknown | undefined;
  /** person: MOBILE, HOME or WORK. */
  phoneType?: unknown | undefined;
  /** person: date of birth, from 1870 on. */
  birthDate?: unknown | undefined;
  /** member, memberPerson, account: the membership. It never changes. */
  memberNumber?: string | undefined;
  /** member: its id; a new membership needs it, and it never changes. */
  customerId?: string | undefined;
  /** member: RETAIL or BUSINESS; a new membership needs it, and it never changes. */
  memberType?: string | undefined;
  /** member: persons added, or given another role. A new membership needs its PRIMARY. */
  persons?: readonly CoreRecordPerson[] | undefined;
  /** account, holder: the account. */
  accountId?: string | undefined;
  /** account: a new one needs it. Of a card the last four digits. */
  accountNumber?: unknown | undefined;
  /** account: DIAccountType; a new one needs it, and it never changes. */
  type?: unknown | undefined;
  /** account: its name. */
  description?: unknown | undefined;
  /** account: a new one needs it, and it never changes. */
  currency?: string | undefined;
  /** account: opening balance of a new one. It never changes an existing one. */
  balance?: Decimal | undefined;
  /** account: open or closed. Default of a new one: open. */
  status?: string | undefined;
  /** account: whether a loan is not in good standing. */
  delinquent?: boolean | undefined;
  /** account: for deposits. */
  overdraftLimit?: Decimal | undefined;
  /** account: for cards and credit lines. */
  creditLimit?: Decimal | undefined;
  /** account: for loans, the interest owed. */
  accruedInterest?: Decimal | undefined;
  /** account: for loans, the fees owed. */
  feesDue?: Decimal | undefined;
  /** account: for loans, the payment that brings it into good standing. */
  amountDue?: Decimal | undefined;
  /** account: for loans, the day on which the amount due is to be paid, YYYY-MM-DD. */
  nextDueOn?: unknown | undefined;
  /** account: EXCLUDE_AS_FROM, EXCLUDE_AS_TO or EXCLUDE_ALL; null ends it. */
  transferRestriction?: unknown | undefined;
  /** account: holders added or changed. */
  holders?: readonly CoreRecordPerson[] | undefined;
  /** memberPerson, holder: the role, as in the lists. */
  role?: string | undefined;
  /** holder: whether they may pay from the account. */
  mayPay?: boolean | undefined;
  /** When the core made the change. A record that is older than one of the same key is `stale` and changes nothing. */
  changedAt?: string | undefined;
  /** memberPerson, holder: `true` ends it. Nothing is removed by absence. */
  removed?: boolean | undefined;
}

/** A person of a membership, or a holder of an account. */
export interface CoreRecordPerson {
  /** The person. */
  personId: string;
  /** PRIMARY, JOINT or AUTHORIZED_SIGNER; in the membership of a business also BUSINESS_ADMIN or BUSINESS_USER. */
  role?: string | undefined;
  /** Of a holder: whether they may pay from the account. */
  mayPay?: boolean | undefined;
}

/** The answer to a line of a delivery. The last one is the summary. */
export interface DeliveryAnswer {
  /** The line, from 1. */
  line?: number | undefined;
  /** The id of the line, if it has a valid one. */
  id?: string | undefined;
  /** Result of the line: posted, already, held, changed, released, echo, conflict, refused. Later versions may add more. */
  result?: string | undefined;
  /** With `refused` and `conflict`: the reason. */
  code?: string | undefined;
  /** The reason in a sentence. */
  detail?: string | undefined;
  summary?: DeliverySummary | undefined;
}

/** The number of lines by result. The delivery is complete. */
export interface DeliverySummary {
  /** Lines with the result posted. */
  posted?: number | undefined;
  /** Lines with the result already. */
  already?: number | undefined;
  /** Lines with the result held. */
  held?: number | undefined;
  /** Lines with the result changed. */
  changed?: number | undefined;
  /** Lines with the result released. */
  released?: number | undefined;
  /** Lines with the result echo. */
  echo?: number | undefined;
  /** Lines with the result conflict. */
  conflict?: number | undefined;
  /** Lines with the result refused. */
  refused?: number | undefined;
}

/** The answer to a line of a delivery. The last one is the summary. */
export interface RecordAnswer {
  /** The line, from 1. */
  line?: number | undefined;
  /** The id of the line, if it has a valid one. */
  id?: string | undefined;
  /** Result of the line: added, changed, removed, unchanged, stale, refused. Later versions may add more. */
  result?: string | undefined;
  /** With `refused` and `conflict`: the reason. */
  code?: string | undefined;
  /** The reason in a sentence. */
  detail?: string | undefined;
  summary?: RecordSummary | undefined;
}

/** The number of lines by result. The delivery is complete. */
export interface RecordSummary {
  /** Lines with the result added. */
  added?: number | undefined;
  /** Lines with the result changed. */
  changed?: number | undefined;
  /** Lines with the result removed. */
  removed?: number | undefined;
  /** Lines with the result unchanged. */
  unchanged?: number | undefined;
  /** Lines with the result stale. */
  stale?: number | undefined;
  /** Lines with the result refused. */
  refused?: number | undefined;
}

/** `refused`: only lines that were refused, are stale or in conflict, and the summary. Default: `all`. */
export type ShownAnswers = 'all' | 'refused';

/** A balance of the core, or a posting of its list: a line of the stream. */
export interface CoreBalance {
  /** The account. */
  accountId: string;
  /** In major units. A credit to the member's position is positive. */
  balance?: Decimal | undefined;
  /** The currency of the account. */
  currencyCode: string;
  /** In place of a balance: the core's id of a posting, for its list of postings. */
  transactionId?: string | undefined;
  /** With `transactionId`: the amount of the posting. */
  amount?: Decimal | undefined;
}

/** A line that is refused. The last answer is the summary. */
export interface ComparisonAnswer {
  /** The line, from 1. */
  line?: number | undefined;
  /** The transactionId of the line, if it has a valid one. */
  id?: string | undefined;
  /** `refused`. */
  result?: string | undefined;
  /** The reason. */
  code?: string | undefined;
  /** The reason in a sentence. */
  detail?: string | undefined;
  summary?: ComparisonSummary | undefined;
}

/** The comparison is complete. */
export interface ComparisonSummary {
  /** Accounts compared. */
  accounts?: number | undefined;
  /** Postings of the core's list. */
  postings?: number | undefined;
  /** Accounts whose difference is that of instructions under way. */
  inFlight?: number | undefined;
  /** Accounts that differ otherwise. */
  differing?: number | undefined;
  /** Breaks that were opened. */
  opened?: number | undefined;
  /** Open breaks whose difference has changed. */
  changed?: number | undefined;
  /** Breaks that were closed. */
  closed?: number | undefined;
  /** Lines that were refused. */
  refused?: number | undefined;
}

/** A difference between the core's books and these. */
export interface Break {
  breakId: string;
  /** The kind of difference. New values may be added. */
  class: 'MISSING_HERE' | 'MISSING_THERE' | 'AMOUNT' | 'DUPLICATE' | 'TIMING' | 'UNKNOWN_ACCOUNT' | 'AMOUNT_MISMATCH' | 'BELOW_FLOOR' | 'REVERSAL_REJECTED' | (string & {});
  accountId: string;
  /** The core's id of the posting that differs. */
  transactionId?: string | undefined;
  /** The transfer that differs. */
  transferId?: string | undefined;
  /** The core's amount minus the one here, in major units. */
  difference: Decimal;
  /** ISO 4217. */
  currencyCode: string;
  /** The moment of the balances that were compared. */
  asOf?: string | undefined;
  /** The person who looks after it. */
  owner?: string | undefined;
  /** When it was found. */
  openedAt: string;
  /** Missing: it is open. */
  closedAt?: string | undefined;
  /** The reason of its end. New values may be added. */
  closedBy?: 'ARRIVED' | 'AGREED' | 'DECIDED' | 'RECOVERED' | 'ADJUSTED' | (string & {}) | undefined;
  /** The newest 200 notes. Not in lists. */
  story?: readonly BreakNote[] | undefined;
}

/** A line of a break's story. */
export interface BreakNote {
  /** The time of the note. */
  at: string;
  /** The client or the operator. Missing: the service. */
  author?: string | undefined;
  note: string;
}

/** A new owner, a note, or both. */
export interface BreakUpdate {
  /** The person who looks after it, by name. */
  owner?: string | undefined;
  /** A line for its story. */
  note?: string | undefined;
}

export interface ServiceVersion {
  name: string;
  version: string;
}

/** The alerts that a member wants. */
export interface AlertPreferences {
  /** IANA name, for quiet hours and the digest. Default: the institution’s. */
  timeZone: string;
  language: AlertLanguage;
  /** Where security alerts go: a change of contact information or password. EMAIL and INBOX are always among them. Default: these two. */
  securityChannels: readonly AlertChannel[];
  quietHours?: QuietHours | undefined;
  /** Alerts about accounts wait for this time, on the clocks of `timeZone`, and go out together in one message. Quiet hours do not count for them. Default: each alert goes out on its own. */
  digestAt?: string | undefined;
  alerts: readonly AlertRule[];
}

/** All preferences. They replace those before; a setting left out gets its default. */
export interface AlertPreferencesUpdate {
  /** IANA name, for quiet hours and the digest. Default: the institution’s. */
  timeZone?: string | undefined;
  language?: AlertLanguage | undefined;
  /** Where security alerts go: a change of contact information or password. EMAIL and INBOX are always among them. Default: these two. */
  securityChannels?: readonly AlertChannel[] | undefined;
  quietHours?: QuietHoursUpdate | undefined;
  /** Alerts about accounts wait for this time, on the clocks of `timeZone`, and go out together in one message. Quiet hours do not count for them. Default: each alert goes out on its own. */
  digestAt?: string | undefined;
  alerts: readonly AlertRuleUpdate[];
}

/** An alert that the member wants. */
export interface AlertRule {
  alertType: AlertRuleType;
  /** An account of the member. */
  accountId: string;
  /** In major units of the account’s currency. Required for LOW_BALANCE, HIGH_BALANCE, DEPOSIT and PAYMENT, and not allowed for others. */
  threshold?: Decimal | undefined;
  /** Where the alert goes. */
  channels: readonly AlertChannel[];
}

/** An alert that the member wants, one of each type for an account. */
export interface AlertRuleUpdate {
  alertType: AlertRuleType;
  /** An account of the member. */
  accountId: string;
  /** In major units of the account’s currency. Required for LOW_BALANCE, HIGH_BALANCE, DEPOSIT and PAYMENT, and not allowed for others. */
  threshold?: Decimal | undefined;
  /** Where the alert goes. */
  channels: readonly AlertChannel[];
}

/** A report about an e-mail of the service. */
export interface BounceReport {
  /** The address that got the mail. */
  emailAddress: string;
  /** BOUNCE: it cannot be delivered. COMPLAINT: the member reported it as unwanted. */
  kind: 'BOUNCE' | 'COMPLAINT';
}

/** The result of a report. */
export interface BounceResult {
  /** Always true: the address gets no mail. */
  suppressed: boolean;
}

/** LOW_BALANCE, HIGH_BALANCE: the available balance falls below or rises above the threshold. DEPOSIT, PAYMENT: a posting of at least the threshold comes in or goes out. TRANSFER_COMPLETE, TRANSFER_FAILED, TRANSFER_PENDING: a transfer from the account. PAYMENT_DUE: the payment of a loan is due within three days. */
export type AlertRuleType = 'LOW_BALANCE' | 'HIGH_BALANCE' | 'DEPOSIT' | 'PAYMENT' | 'TRANSFER_COMPLETE' | 'TRANSFER_FAILED' | 'TRANSFER_PENDING' | 'PAYMENT_DUE';

/** INBOX is kept by the service; the others are delivered by the institution. */
export type AlertChannel = 'EMAIL' | 'SMS' | 'PUSH' | 'INBOX';

/** Of the messages. Default: en. */
export type AlertLanguage = 'en' | 'es';

/** Alerts of these hours wait for their end, on the clocks of `timeZone`. Security alerts do not. */
export interface QuietHours {
  /** Beginning, HH:MM. */
  from: string;
  /** End, HH:MM; earlier than `from`: on the next day. */
  to: string;
}

/** Alerts of these hours wait for their end, on the clocks of `timeZone`. Security alerts do not. */
export interface QuietHoursUpdate {
  /** Beginning, HH:MM. */
  from: string;
  /** End, HH:MM; earlier than `from`: on the next day. */
  to: string;
}

/** An alert in the inbox. */
export interface MemberAlert {
  /** The same at each delivery. */
  alertId: string;
  /** The reason. New values may be added. */
  alertType: 'LOW_BALANCE' | 'HIGH_BALANCE' | 'DEPOSIT' | 'PAYMENT' | 'TRANSFER_COMPLETE' | 'TRANSFER_FAILED' | 'TRANSFER_PENDING' | 'PAYMENT_DUE' | 'CONTACT_CHANGED' | 'PASSWORD_CHANGED' | 'NEW_DEVICE' | 'SECOND_FACTOR_CHANGED' | 'RECOVERY_CODE_USED' | (string & {});
  /** Time of the event that raised it. */
  timestamp: string;
  /** One or two sentences in the member’s language. */
  message: string;
  /** Missing for a security alert. */
  accountId?: string | undefined;
  /** A transfer from the account. */
  transferId?: string | undefined;
  /** Of the deposit, payment or transfer. */
  amount?: Decimal | undefined;
  /** The account’s available balance behind the event. */
  balanceAmount?: Decimal | undefined;
  /** Of the rule. */
  threshold?: Decimal | undefined;
  /** Of the amounts. */
  currencyCode?: string | undefined;
  /** Of a payment that is due: the day. */
  dueOn?: string | undefined;
  /** The event of the feed that raised it. Missing for a payment that is due. */
  eventId?: string | undefined;
  read: boolean;
}

/** Whether the member has read the alert. */
export interface AlertMark {
  read: boolean;
}

/** An address to which events are sent. */
export interface WebhookEndpoint {
  endpointId: string;
  /** The client that owns it. */
  clientId: string;
  url: string;
  description?: string | undefined;
  /** Missing: all. */
  eventTypes?: readonly string[] | undefined;
  payload: WebhookPayload;
  ordering: WebhookOrdering;
  status: WebhookStatus;
  /** Why it is not ACTIVE: `client` or `operator` changed it, it responded 410 (`gone`), or it failed for five days (`failing`). New values may be added. */
  statusReason?: string | undefined;
  /** Creation. */
  createdAt: string;
  /** The last event that was sent, or that waits on its own. */
  sequence: number;
  /** Failed attempts since the last success. */
  failures: number;
  /** First of those failures. */
  failingSince?: string | undefined;
  /** After five failures in a row: nothing is sent before this. */
  nextAttemptAt?: string | undefined;
  /** The valid ones, the newest first. */
  publicKeys: readonly string[];
  keys?: WebhookKeys | undefined;
}

/** THIN: ids, type, sequences and time; fetch the rest. FULL: the event as in the feed. Default: THIN. */
export type WebhookPayload = 'THIN' | 'FULL';

/** ACCOUNT: an event is sent after every earlier one of its accounts. STRICT: after every earlier one. Default: ACCOUNT. */
export type WebhookOrdering = 'ACCOUNT' | 'STRICT';

/** Nothing is sent unless ACTIVE. The position is kept: once ACTIVE again, it goes on from there. */
export type WebhookStatus = 'ACTIVE' | 'PAUSED' | 'DISABLED';

export interface WebhookDeletion {
  endpointId: string;
  /** `true`. */
  deleted: boolean;
}

export interface ReplayedEvents {
  /** Number of events to send again. */
  events: number;
}

/** A new endpoint. */
export interface WebhookOrder {
  /** https, with a public address. */
  url: string;
  description?: string | undefined;
  /** Only events of these types. Default: all. */
  eventTypes?: readonly string[] | undefined;
  payload?: WebhookPayload | undefined;
  ordering?: WebhookOrdering | undefined;
}

/** Changes; a field left out stays as it is. */
export interface WebhookUpdate {
  /** https, with a public address. */
  url?: string | undefined;
  description?: string | undefined;
  /** Only events of these types. Default: all. */
  eventTypes?: readonly string[] | undefined;
  /** `true` lifts the restriction to some types. */
  allEventTypes?: boolean | undefined;
  payload?: WebhookPayload | undefined;
  ordering?: WebhookOrdering | undefined;
  status?: WebhookStatus | undefined;
}

/** The keys by which a receiver verifies. */
export interface WebhookKeys {
  /** For signature `v1` (HMAC-SHA256): `whsec_…`. It is shown once. */
  secret: string;
  /** For signature `v1a` (Ed25519): `whpk_…`. */
  publicKey: string;
}

export interface WebhookRotation {
  /** Hours for which the secret before stays valid. Default: 24. */
  overlapHours?: number | undefined;
}

/** Exactly one of the fields. */
export interface WebhookReplay {
  /** Every event from this sequence on. */
  from?: number | undefined;
  /** Every event from this time on. */
  since?: string | undefined;
  /** These events. */
  eventIds?: readonly string[] | undefined;
  /** `true`: the parked events, at most a thousand at a time. */
  parked?: boolean | undefined;
}

/** One try to deliver an event. */
export interface WebhookAttempt {
  /** The sequence of the event; missing for a ping. */
  sequence?: number | undefined;
  eventId: string;
  eventType: string;
  /** Start of the attempt. */
  attemptedAt: string;
  durationMs: number;
  /** The response had a status from 200 to 299. */
  delivered: boolean;
  /** Missing without a response. */
  status?: number | undefined;
  /** Why it failed: `status_…`, `timeout`, `connection`, `tls`, `name_not_found` or `address_not_allowed`. New values may be added. */
  error?: string | undefined;
  /** The first 256 bytes of the response, escaped. */
  response?: string | undefined;
}

/** An event that the endpoint has not accepted. */
export interface WebhookDelivery {
  eventId: string;
  sequence: number;
  attempts: number;
  /** Missing for a parked event, and while an earlier event has to go first. */
  nextAttemptAt?: string | undefined;
}

/** The person who consented. */
export interface FdxCustomer {
  /** The user, forever. The `sub` of ID tokens. */
  customerId: string;
  name: FdxCustomerName;
  email: readonly string[];
  telephones: readonly FdxTelephone[];
}

/** The name of a person. */
export interface FdxCustomerName {
  first: string;
  last: string;
}

/** A telephone number of the customer. */
export interface FdxTelephone {
  /** The purpose. New values may be added. */
  type: 'HOME' | 'BUSINESS' | 'PERSONAL' | (string & {});
  /** E.164, with the country. */
  number: string;
  /** Of a mobile phone. New values may be added. */
  network?: 'CELLULAR' | (string & {}) | undefined;
}

/** The accounts that the consent covers. */
export interface FdxAccounts {
  accounts: readonly FdxAccount[];
}

/** An account; a descriptor has no balances. */
export interface FdxAccount {
  /** The category of the account. New values may be added. */
  accountCategory: 'DEPOSIT_ACCOUNT' | 'LOAN_ACCOUNT' | 'LOC_ACCOUNT' | 'INVESTMENT_ACCOUNT' | (string & {});
  /** Unique identifier of the account. */
  accountId: string;
  /** FDX’s type within the category, for example CHECKING. */
  accountType: string;
  /** The last four characters of the account number. */
  accountNumberDisplay: string;
  /** For people. */
  productName: string;
  /** CLOSED takes precedence over DELINQUENT. New values may be added. */
  status: 'OPEN' | 'CLOSED' | 'DELINQUENT' | (string & {});
  currency: FdxCurrency;
  /** While the core that keeps the books is away: the time that the balances are true for. */
  balanceAsOf?: string | undefined;
  /** DEPOSIT_ACCOUNT: the posted balance. LOC_ACCOUNT: the amount owed. */
  currentBalance?: Decimal | undefined;
  /** DEPOSIT_ACCOUNT: the posted balance less holds. */
  availableBalance?: Decimal | undefined;
  /** LOAN_ACCOUNT: the principal owed. */
  principalBalance?: Decimal | undefined;
  /** LOC_ACCOUNT: the unused part of the line. */
  availableCredit?: Decimal | undefined;
  /** INVESTMENT_ACCOUNT: the posted balance. */
  currentValue?: Decimal | undefined;
  /** INVESTMENT_ACCOUNT: the posted balance less holds. */
  availableCashBalance?: Decimal | undefined;
}

/** A currency. */
export interface FdxCurrency {
  /** ISO 4217. */
  currencyCode: string;
}

/** A page of transactions. */
export interface FdxTransactions {
  page?: FdxPage | undefined;
  transactions: readonly FdxTransaction[];
}

/** A transaction of an account. */
export interface FdxTransaction {
  /** The category of the account. New values may be added. */
  accountCategory: 'DEPOSIT_ACCOUNT' | 'LOAN_ACCOUNT' | 'LOC_ACCOUNT' | 'INVESTMENT_ACCOUNT' | (string & {});
  /** Unique on its account. A transfer keeps it from pending to posted. */
  transactionId: string;
  /** Time of posting; while pending, time of the order. */
  transactionTimestamp: string;
  /** Missing while pending. */
  postedTimestamp?: string | undefined;
  /** FDX’s type for loans, credit lines and investments. */
  transactionType?: string | undefined;
  /** For people. */
  description: string;
  /** Whether the account was credited or debited. New values may be added. */
  debitCreditMemo: 'CREDIT' | 'DEBIT' | (string & {});
  /** PENDING: held, not posted yet. New values may be added. */
  status: 'PENDING' | 'POSTED' | (string & {});
  /** In major units of the account’s currency, without a sign. */
  amount: Decimal;
  /** The kind of spending, as the core states it. */
  category?: string | undefined;
  /** DEPOSIT_ACCOUNT: the merchant or payee of a debit. */
  payee?: string | undefined;
  /** The number of a check. */
  checkNumber?: number | undefined;
}

/** Missing on the last page. */
export interface FdxPage {
  /** The `offset` of the next page. */
  nextOffset: string;
}

/** The error entity of FDX. */
export interface FdxError {
  /** FDX’s number: 401 invalid input, 500, 501 subsystem unavailable, 602 not authorized, 701 no such account, 702 invalid time, 703 invalid range. Other errors have the code of the service. */
  code: string;
  /** For people. */
  message: string;
  /** For developers: the code of the service (/problems), and the reason. */
  debugMessage: string;
}

/** A transfer that the core must carry out. */
export interface Instruction {
  /** The idempotency key at the core, for ever: the id of the transfer. */
  id: string;
  /** Grows in the order of delivery. Numbers may be missing. */
  sequence: number;
  /** The type of the transfer. New values may be added. */
  type: 'STANDARD' | 'CROSS_MEMBER' | 'IRA_CONTRIBUTION' | 'LOAN_PAYMENT' | 'INTRA_FI' | (string & {});
  fromAccountId: string;
  toAccountId: string;
  /** In major units, written with exactly the decimals of the currency. */
  amount: Decimal;
  /** ISO 4217. */
  currencyCode: string;
  /** The business day that the transfer belongs to. */
  businessDate: string;
  memo?: string | undefined;
  orderedAt: string;
  /** The id of the transfer that this one takes back. */
  reverses?: string | undefined;
  /** Until then no other client gets it. */
  leaseUntil?: string | undefined;
}

/** The sign of life is noted. */
export interface Heartbeat {
  /** `true`. */
  noted: boolean;
}

/** The outcome of an instruction. */
export interface OutcomeReport {
  outcome: 'ACCEPTED' | 'REJECTED';
  /** With ACCEPTED: the id of the posting at the core. */
  coreReference?: string | undefined;
  /** With REJECTED: why, in a word. */
  code?: string | undefined;
  /** With REJECTED: why, in a sentence for operators. */
  reason?: string | undefined;
}

/** The outcome of an instruction. A rejected transfer that stays COMPLETED was reversed by another. */
export interface InstructionOutcome {
  id: string;
  /** As reported. New values may be added. */
  outcome: 'ACCEPTED' | 'REJECTED' | (string & {});
  transferStatus: TransferStatus;
}

/** The connection to the core that keeps the books. */
export interface CoreConnection {
  /** While it is away, stand-in limits apply. New values may be added. */
  state: 'connected' | 'late' | 'away' | (string & {});
  /** The last request of the core. Missing: none yet. */
  heardAt?: string | undefined;
  /** When the oldest instruction that it has not fetched was issued. */
  oldestUndeliveredAt?: string | undefined;
  openInstructions: readonly OpenInstructions[];
}

/** Instructions of one mode and currency that the core has not decided. */
export interface OpenInstructions {
  /** WAIT: the transfer is held. MEMO and STAND_IN: it has completed, and a refusal reverses it. New values may be added. */
  mode: 'WAIT' | 'MEMO' | 'STAND_IN' | (string & {});
  /** ISO 4217. */
  currencyCode: string;
  instructions: number;
  /** Of these, those that the core has fetched. */
  delivered: number;
  /** In major units, written with exactly the decimals of the currency. */
  amount: Decimal;
}

/** An amount of a currency. */
export interface Money {
  /** In major units, written with exactly the decimals of the currency. */
  amount: Decimal;
  /** ISO 4217. */
  currencyCode: string;
}

/** A user with digital access. */
export interface Profile {
  /** Unique identifier of the user. */
  userId: string;
  firstName: string;
  lastName: string;
  emailAddress: string;
  /** In the requested membership, else the highest over all memberships. New values may be added. */
  userRole: 'PRIMARY' | 'BUSINESS_ADMIN' | 'JOINT' | 'BUSINESS_USER' | 'AUTHORIZED_SIGNER' | (string & {});
  /** Of that same membership. New values may be added. */
  userType: 'RETAIL' | 'BUSINESS' | (string & {});
  userStatus: UserStatus;
  /** The memberships of the user. */
  customers: readonly CustomerMembership[];
  phoneNumbers: readonly UserPhone[];
}

/** Whether the user may log in. */
export interface UserStatus {
  active: boolean;
  locked: boolean;
}

/** A membership of the user. */
export interface CustomerMembership {
  customerId: string;
  memberNumber: string;
}

/** A phone number of the user. */
export interface UserPhone {
  /** E.164. */
  phoneNumber: string;
  phoneType: PhoneType;
}

/** The type of the phone number. */
export type PhoneType = 'MOBILE' | 'HOME' | 'WORK';

/** One account: identity, type, category, balances, status. */
export interface Account {
  /** Unique identifier of the account. */
  accountId: string;
  /** For a card, its last four digits. */
  accountNumber: string;
  accountType: AccountType;
  /** The category of the account for its holder. */
  category: 'DEPOSIT' | 'LOAN' | 'CREDIT' | 'INVESTMENT';
  balance: AccountBalance;
  accountStatus: AccountStatus;
  /** While the core that keeps the books is away: the time that the balances are true for. */
  balancesAsOf?: string | undefined;
}

/** The kind of account at the institution. */
export interface AccountType {
  /** For example CHECKING, SAVINGS, MORTGAGE_LOAN. */
  DIAccountType: string;
  description: string;
}

/** Independent flags. */
export interface AccountStatus {
  open: boolean;
  closed: boolean;
  delinquent: boolean;
}

/** Current is the posted balance: of a deposit the money in it, of a loan the principal owed, of a credit line the amount owed. Available is a deposit’s current balance less holds, a credit line’s unused part, and 0 for a loan. */
export interface AccountBalance {
  availableBalance: Money;
  currentBalance: Money;
}

/** A transaction of an account. The balance is the sum of the posted amounts. */
export interface Transaction {
  /** Unique on its account. A transfer keeps it from pending to posted. */
  id: string;
  /** Time of posting, of a transaction of the core the time at the core; while pending, time of the order. A page is in the order of arrival here. */
  transactionDate: string;
  /** PAYMENT is a payment on a loan or credit line. New values may be added. */
  type: 'OPENING_BALANCE' | 'CREDIT_ADJUSTMENT' | 'DEBIT_ADJUSTMENT' | 'TRANSFER_CREDIT' | 'TRANSFER_DEBIT' | 'PAYMENT' | 'POS_PURCHASE' | 'REFUND' | 'DIRECT_DEPOSIT' | 'ELECTRONIC_TRANSFER_CREDIT' | 'ELECTRONIC_TRANSFER_DEBIT' | 'CHECK' | 'DEPOSIT' | 'WITHDRAWAL' | 'SERVICE_CHARGE' | 'INTEREST_POSTING' | 'DIVIDEND' | 'ATM_WITHDRAWAL' | 'ATM_DEPOSIT' | 'WIRE_CREDIT' | 'WIRE_DEBIT' | (string & {});
  /** For people. */
  description: string;
  /** The change of the balance. */
  amount: Money;
  /** The balance after it; missing while pending. A debt is positive; of a loan it is the whole debt with interest and fees. */
  ledgerBalance?: Money | undefined;
  /** Held, not posted yet. */
  isPending: boolean;
  /** Whether the account was credited. */
  isCreditTransaction: boolean;
  /** The transfer behind it, if the token may see it. */
  transferId?: string | undefined;
  /** The memo of the order. */
  memo?: string | undefined;
  /** The transfer that this one reverses, if the caller may see it. */
  reverses?: string | undefined;
  /** The transfer by which the institution reversed this one. */
  reversedBy?: string | undefined;
  counterparty?: Counterparty | undefined;
  /** The merchant of a card payment, as the core states it. */
  merchant?: string | undefined;
  /** The kind of spending, as the core states it. */
  category?: string | undefined;
  /** The number of a check. */
  checkNumber?: string | undefined;
  /** The business date at the core. */
  effectiveDate?: string | undefined;
}

/** The other end of a transfer, as far as the caller may know it. */
export interface Counterparty {
  /** The primary holder of that account: in full if the token may see the account, else the first name and the initial of the last. Missing if there is none. */
  name?: string | undefined;
  /** Present if the token may see that account or the transfer. A payee does not see it. */
  accountId?: string | undefined;
}

/** As on the account, at a moment. Of a loan, current is the whole debt with interest and fees. A credit line’s available is computed with the line of today. */
export interface Balances {
  accountId: string;
  asOf: string;
  /** The business day, if the request names one; `asOf` is now. */
  effectiveDate?: string | undefined;
  balance: AccountBalance;
}

/** A transfer between two accounts. `transferType` is missing only if the transfer FAILED before its type was known. */
export interface Transfer {
  /** Unique identifier of the transfer, and its idempotency key forever. */
  id: string;
  transferType?: TransferType | undefined;
  /** Source account. */
  fromAccountId: string;
  /** Destination account. */
  toAccountId: string;
  /** In major units of the currency. */
  amount: Decimal;
  /** ISO 4217. */
  currencyCode: string;
  status: TransferStatus;
  createdAt: string;
  failureCode?: FailureCode | undefined;
  /** The memo of the order, visible to the holders of both accounts. */
  memo?: string | undefined;
  /** The transfer that this one reverses, if the caller may see it. */
  reverses?: string | undefined;
  /** The transfer by which the institution reversed this one. */
  reversedBy?: string | undefined;
}

/** An order to move money. */
export interface TransferOrder {
  /** The caller’s own id, and the idempotency key forever. Default: a generated one. */
  id?: string | undefined;
  transferType?: TransferType | undefined;
  /** Source account. */
  fromAccountId: string;
  /** Destination account. */
  toAccountId: string;
  /** In major units, with at most the decimals of the currency and 13 digits before the point. */
  amount: Decimal;
  /** ISO 4217. Default: the currency of the source account. */
  currencyCode?: string | undefined;
  paymentOption?: PaymentOption | undefined;
  /** Counts an IRA_CONTRIBUTION for the year before. Allowed from 1 January to the filing date. */
  previousYearContribution?: boolean | undefined;
  /** A line for people, visible to the holders of both accounts. Must not contain control, bidirectional or invisible characters. A repeated order must have the same memo. */
  memo?: string | undefined;
  /** Set by the service; accepted and ignored. */
  status?: TransferStatus | undefined;
  /** Set by the service; accepted and ignored. */
  createdAt?: string | undefined;
}

/** Derived from the accounts, destination first: an IRA, a loan or credit line, one membership, two memberships of one user, else INTRA_FI. */
export type TransferType = 'STANDARD' | 'CROSS_MEMBER' | 'IRA_CONTRIBUTION' | 'LOAN_PAYMENT' | 'INTRA_FI';

/** COMPLETED and FAILED are final. While a transfer is PENDING, its amount is held on the source account. */
export type TransferStatus = 'PENDING' | 'COMPLETED' | 'FAILED';

/** Why; with FAILED only. New values may be added. */
export type FailureCode = 'account_not_found' | 'same_account' | 'account_closed' | 'account_restricted' | 'currency_mismatch' | 'transfer_type_mismatch' | 'limit_exceeded' | 'exceeds_payoff' | 'exceeds_contribution_limit' | 'insufficient_funds' | 'core_unavailable' | 'transfer_declined' | 'transfer_cancelled' | 'transfer_expired' | 'core_rejected' | (string & {});

/** The order of allocation of a LOAN_PAYMENT. DEFAULT is fees, interest, principal; an institution may allow the others. */
export type PaymentOption = 'DEFAULT' | 'PRINCIPAL_ONLY' | 'INTEREST_ONLY' | 'EXCESS_TO_PRINCIPAL';

/** The result of a dry run: the transfer as the order would create it, or the existing transfer if the same order was sent before. Nothing was moved or stored. */
export interface TransferDecision {
  transfer: Transfer;
  /** The reasons why the transfer fails or is held. Empty if it posts at once, or if an earlier transfer is returned that did not fail. */
  reasons: readonly TransferReason[];
}

export interface TransferReason {
  /** Meant for programs. New values may be added. */
  code: 'account_not_found' | 'same_account' | 'account_closed' | 'account_restricted' | 'currency_mismatch' | 'transfer_type_mismatch' | 'limit_exceeded' | 'exceeds_payoff' | 'exceeds_contribution_limit' | 'insufficient_funds' | 'core_unavailable' | 'transfer_declined' | 'transfer_cancelled' | 'transfer_expired' | 'core_rejected' | 'review' | 'cut_off' | 'core' | (string & {});
  /** For people. */
  detail: string;
  limit?: TransferLimit | undefined;
}

/** The limit that a transfer would exceed; of several, the one with the least remaining. */
export interface TransferLimit {
  /** The transfers that count together: those of the user, those from the accounts of the membership, or those from the account. New values may be added. */
  appliesTo: 'USER' | 'CUSTOMER' | 'ACCOUNT' | (string & {});
  /** TRANSFER limits each single transfer. New values may be added. */
  period: 'TRANSFER' | 'DAY' | 'MONTH' | (string & {});
  /** The most that another transfer could move, in major units, when the limit was exceeded. Missing if the limit counts transfers that the caller may not see. */
  remainingAmount?: Decimal | undefined;
  /** ISO 4217. */
  currencyCode: string;
  /** Start of the next period; missing with TRANSFER. */
  resetsAt?: string | undefined;
}

/** The possible destinations of transfers from an account. */
export interface TransferOptions {
  /** Source account. */
  fromAccountId: string;
  /** ISO 4217. */
  currencyCode: string;
  options: readonly TransferOption[];
}

/** One destination. */
export interface TransferOption {
  /** Destination account. The last option has none: it stands for any other deposit account of the institution. */
  toAccountId?: string | undefined;
  transferType?: TransferType | undefined;
  paymentOption?: PaymentOption | undefined;
  /** Whether a contribution to an IRA counts for the year before. */
  previousYearContribution?: boolean | undefined;
  allowed: boolean;
  /** The most that may be moved now, in major units. */
  maximumAmount?: Decimal | undefined;
  /** A larger amount is held for review. Returned to client tokens only. */
  reviewAbove?: Decimal | undefined;
  reason?: TransferReason | undefined;
}

/** An event. A transfer is in the state that the event left. */
export interface Event {
  /** Unique forever. */
  eventId: string;
  /** Number in the feed of the institution: 1, 2, 3 … without a gap. A missing number is a missed event: read it with `from`. */
  sequence: number;
  /** transfer.pending, transfer.completed, transfer.failed, account.balance_opened, account.balance_adjusted (by the core), member.registered, member.activation_requested (a forgotten password), member.activated, member.contact_changed, member.email_confirmation_requested, member.email_confirmed, member.password_changed, member.password_ended (after a hundred wrong ones), member.new_device (a sign-in from one; `data` has the clientId), member.second_factor_added, member.second_factor_removed (an authenticator app), member.recovery_code_used, member.alert_raised, consent.granted, consent.narrowed, consent.ended. New values may be added. */
  eventType: string;
  timestamp: string;
  /** The member of the event; for a transfer, the member who ordered it. */
  userId?: string | undefined;
  transfer?: Transfer | undefined;
  /** The accounts with a changed balance or hold. */
  accounts: readonly AccountChange[];
  /** Additional data, by event type. */
  data?: {
    [name: string]: unknown;
  } | undefined;
}

/** A change of one account. */
export interface AccountChange {
  accountId: string;
  /** The number of this change on the account: 1, 2, 3 …, each in one event. */
  sequence: number;
}

/** The code with which a registered user gets a login. Do not store it. */
export interface ActivationCode {
  /** For `activateMember`, once. */
  activationCode: string;
  /** The user of the code. */
  userId: string;
  /** Expiry of the code. */
  expiresAt: string;
}

export interface ServiceStatus {
  /** `live`, `ready` or `degraded`. */
  status: string;
  /** With `degraded`: `commits_wait_for_standby` or `commits_wait`. */
  reason?: string | undefined;
}

/** The code that proves that a member reads an e-mail address. Do not store it. */
export interface EmailCode {
  /** For `confirmEmail`, once. */
  emailCode: string;
  /** The user of the code. */
  userId: string;
  /** Expiry of the code. */
  expiresAt: string;
}

/** RFC 9457. */
export interface Problem {
  /** Opens the page about the code. */
  type: string;
  /** The same for every occurrence of the code. */
  title: string;
  status: number;
  /** Explanation of this occurrence, for people. */
  detail: string;
  /** The transaction id of this occurrence, if it is a UUID. */
  instance?: string | undefined;
  code: ProblemCode;
  /** The invalid parts of the request. */
  errors?: readonly InvalidPart[] | undefined;
}

/** For programs: the same as at the end of `type`. Handle an unknown code by `status`. New values may be added. */
export type ProblemCode = 'malformed_json' | 'invalid_request' | 'path_not_found' | 'method_not_allowed' | 'not_acceptable' | 'body_too_large' | 'unsupported_media_type' | 'headers_too_large' | 'request_timeout' | 'missing_token' | 'invalid_token' | 'invalid_dpop_proof' | 'use_dpop_nonce' | 'insufficient_scope' | 'insufficient_user_authentication' | 'client_token_required' | 'member_token_required' | 'consent_required' | 'too_many_requests' | 'act_refused' | 'not_found' | 'member_not_found' | 'identity_mismatch' | 'registration_refused' | 'member_already_registered' | 'ambiguous_user_id' | 'activation_code_invalid' | 'email_code_invalid' | 'email_taken' | 'username_taken' | 'username_rejected' | 'password_rejected' | 'wrong_password' | 'too_many_endpoints' | 'rotation_under_way' | 'transfer_id_reused' | 'account_not_found' | 'same_account' | 'account_closed' | 'account_restricted' | 'currency_mismatch' | 'transfer_type_mismatch' | 'limit_exceeded' | 'exceeds_payoff' | 'exceeds_contribution_limit' | 'insufficient_funds' | 'core_unavailable' | 'transfer_declined' | 'transfer_cancelled' | 'transfer_expired' | 'core_rejected' | 'transfer_final' | 'transfer_with_core' | 'instruction_decided' | 'internal_error' | 'overloaded' | 'shutting_down' | 'database_unavailable' | 'institution_moving' | 'institution_elsewhere' | 'outcome_unknown' | (string & {});

export interface InvalidPart {
  /** A JSON pointer into the body (RFC 6901), or the name of a parameter or header. */
  pointer: string;
  detail: string;
}

/** With `insufficient_user_authentication`: log the member in again, then repeat the request. */
export interface StepUpProblem {
  /** Opens the page about the code. */
  type: string;
  /** The same for every occurrence of the code. */
  title: string;
  status: number;
  /** Explanation of this occurrence, for people. */
  detail: string;
  /** The transaction id of this occurrence, if it is a UUID. */
  instance?: string | undefined;
  code: ProblemCode;
  /** The invalid parts of the request. */
  errors?: readonly InvalidPart[] | undefined;
  /** The most seconds since the member’s login (RFC 9470). */
  max_age?: number | undefined;
  /** `phr`: the login must be one with a passkey. */
  acr_values?: string | undefined;
  /** The act: contact_change, transfer_amount, transfer_destination. Send it along, and the page of sign-in names it. More may be added. */
  step_up?: string | undefined;
}

/** The outcome of the transfer is not known yet. Repeating it with this id is safe. */
export interface OutcomeUnknownProblem {
  /** Opens the page about the code. */
  type: string;
  /** The same for every occurrence of the code. */
  title: string;
  status: number;
  /** Explanation of this occurrence, for people. */
  detail: string;
  /** The transaction id of this occurrence, if it is a UUID. */
  instance?: string | undefined;
  code: ProblemCode;
  /** The invalid parts of the request. */
  errors?: readonly InvalidPart[] | undefined;
  /** The id to repeat the transfer with. */
  id: string;
}

/** A valid order that was declined and stored as FAILED. `code` has the reason and, with `limit_exceeded`, `limit` has the limit. */
export interface DeclinedTransferProblem {
  /** Opens the page about the code. */
  type: string;
  /** The same for every occurrence of the code. */
  title: string;
  status: number;
  /** Explanation of this occurrence, for people. */
  detail: string;
  /** The transaction id of this occurrence, if it is a UUID. */
  instance?: string | undefined;
  code: ProblemCode;
  /** The invalid parts of the request. */
  errors?: readonly InvalidPart[] | undefined;
  transfer: Transfer;
  limit?: TransferLimit | undefined;
}

/** RFC 6749, section 5.2. */
export interface OAuthError {
  /** Meant for programs. New values may be added. */
  error: 'invalid_request' | 'invalid_client' | 'invalid_grant' | 'unauthorized_client' | 'unsupported_grant_type' | 'invalid_scope' | 'invalid_dpop_proof' | 'use_dpop_nonce' | (string & {});
  /** For people. */
  error_description?: string | undefined;
}

/** Input and result of each operation. */
export interface Operations {
  issueToken: {
    body: TokenRequest;
    result: TokenResponse;
  };
  revokeToken: {
    body: TokenReference;
    result: Record<never, never>;
  };
  pushAuthorizationRequest: {
    body: PushedAuthorizationRequest;
    result: PushedAuthorizationResponse;
  };
  getUserInfo: {
    result: UserInfo;
  };
  listConsents: {
    result: readonly Consent[];
  };
  narrowConsent: {
    params: {
      /** The id of the consent. */
      consentId: string;
    };
    body: ConsentNarrowing;
    result: Consent;
  };
  withdrawConsent: {
    params: {
      /** The id of the consent. */
      consentId: string;
    };
    result: ConsentEnd;
  };
  introspectToken: {
    body: TokenReference;
    result: TokenIntrospection;
  };
  authorizationServer: {
    result: AuthorizationServerMetadata;
  };
  openidConfiguration: {
    result: AuthorizationServerMetadata;
  };
  jwks: {
    result: JwkSet;
  };
  registerMember: {
    body: MemberRegistration;
    result: Profile;
  };
  activateMember: {
    body: MemberActivation;
    result: Profile;
  };
  changePassword: {
    body: PasswordChange;
    result: Profile;
  };
  getMemberProfile: {
    params: {
      /** An id of the kind `userIdType`. */
      customerId: string;
    };
    query: {
      /** The kind of id in the path. */
      userIdType?: 'CUSTOMER_ID' | 'MEMBER_NUMBER' | 'EMAIL' | 'LOGIN_ID' | 'USER_ID' | undefined;
    };
    result: Profile;
  };
  updateMemberContact: {
    params: {
      /** The customer ID of the member. */
      customerId: string;
    };
    body: ContactChange;
    result: Profile;
  };
  confirmEmail: {
    body: EmailConfirmation;
    result: Profile;
  };
  getAccount: {
    params: {
      /** Unique identifier of the account. */
      accountId: string;
    };
    result: Account;
  };
  listAccounts: {
    query: {
      /** The membership. Required with a client token. */
      customerId?: string | undefined;
    };
    result: readonly Account[];
  };
  getMemberAccounts: {
    params: {
      /** The customer ID of the member. */
      customerId: string;
    };
    result: readonly Account[];
  };
  listTransactions: {
    params: {
      /** Unique identifier of the account. */
      accountId: string;
    };
    query: {
      /** Default: both. */
      status?: 'POSTED' | 'PENDING' | undefined;
      /** Each word must stand in the description, merchant, category, check number or memo, in any case of letters. */
      text?: string | undefined;
      /** Only this type. */
      type?: 'OPENING_BALANCE' | 'CREDIT_ADJUSTMENT' | 'DEBIT_ADJUSTMENT' | 'TRANSFER_CREDIT' | 'TRANSFER_DEBIT' | 'PAYMENT' | 'POS_PURCHASE' | 'REFUND' | 'DIRECT_DEPOSIT' | 'ELECTRONIC_TRANSFER_CREDIT' | 'ELECTRONIC_TRANSFER_DEBIT' | 'CHECK' | 'DEPOSIT' | 'WITHDRAWAL' | 'SERVICE_CHARGE' | 'INTEREST_POSTING' | 'DIVIDEND' | 'ATM_WITHDRAWAL' | 'ATM_DEPOSIT' | 'WIRE_CREDIT' | 'WIRE_DEBIT' | undefined;
      /** At least this amount in major units, without its sign. */
      minAmount?: Decimal | undefined;
      /** At most this amount. */
      maxAmount?: Decimal | undefined;
      /** The category, in any case of letters. */
      category?: string | undefined;
      /** The first effective date (2026-11-20). A transaction without an effective date counts by its day of posting. */
      startDate?: string | undefined;
      /** Until this effective date, inclusive. */
      endDate?: string | undefined;
      /** The beginning, inclusive: a day of the institution’s calendar (2026-11-20), or a date-time (2026-11-20T15:04:05Z). */
      from?: string | undefined;
      /** The end, inclusive: a day of the institution’s calendar, or a date-time. */
      to?: string | undefined;
      /** At most so many on a page; 50 when left out. */
      limit?: number | undefined;
      /** Where the page before ended: from its `Link`, with the same filters. */
      after?: string | undefined;
    };
    result: readonly Transaction[];
  };
  getBalances: {
    params: {
      /** Unique identifier of the account. */
      accountId: string;
    };
    query: {
      /** A date-time (2026-11-20T15:04:05Z). Default: now. */
      asOf?: string | undefined;
      /** In place of `asOf`: a business day (2026-11-20), not in the future. Holds have no effective date and are not in its available balance. A late transaction changes the balances of past days. */
      effectiveDate?: string | undefined;
    };
    result: Balances;
  };
  initiateTransfer: {
    body: TransferOrder;
    result: Transfer;
  };
  listTransfers: {
    query: {
      /** Only those that leave or reach this account. Empty for an account that the token may not see. */
      accountId?: string | undefined;
      /** Derived from the accounts, destination first: an IRA, a loan or credit line, one membership, two memberships of one user, else INTRA_FI. */
      transferType?: TransferType | undefined;
      /** COMPLETED and FAILED are final. While a transfer is PENDING, its amount is held on the source account. */
      status?: TransferStatus | undefined;
      /** The beginning, inclusive: a day of the institution’s calendar (2026-11-20), or a date-time (2026-11-20T15:04:05Z). */
      from?: string | undefined;
      /** The end, inclusive: a day of the institution’s calendar, or a date-time. */
      to?: string | undefined;
      /** At most so many on a page; 50 when left out. */
      limit?: number | undefined;
      /** Where the page before ended: from its `Link`, with the same filters. */
      after?: string | undefined;
    };
    result: readonly Transfer[];
  };
  dryRunTransfer: {
    body: TransferOrder;
    result: TransferDecision;
  };
  getTransferOptions: {
    query: {
      /** Source account. */
      fromAccountId: string;
    };
    result: TransferOptions;
  };
  getTransfer: {
    params: {
      /** Unique identifier of the transfer. */
      id: string;
    };
    result: Transfer;
  };
  cancelTransfer: {
    params: {
      /** Unique identifier of the transfer. */
      id: string;
    };
    result: Transfer;
  };
  listInstructions: {
    query: {
      /** The last `sequence` that the client has. Those up to it that it still leases are not sent again; without it, all are. */
      after?: number | undefined;
      /** At most so many; 200 when left out. */
      limit?: number | undefined;
      /** Seconds to wait for the first instruction (long poll); 0 when left out. */
      wait?: number | undefined;
    };
    result: readonly Instruction[];
  };
  reportOutcome: {
    params: {
      /** Id of the instruction, which is that of its transfer. */
      id: string;
    };
    body: OutcomeReport;
    result: InstructionOutcome;
  };
  coreHeartbeat: {
    result: Heartbeat;
  };
  getCoreConnection: {
    result: CoreConnection;
  };
  readEvents: {
    query: {
      /** From the event with this `sequence`. Not with `after`. */
      from?: number | undefined;
      /** At most so many on a page; 50 when left out. */
      limit?: number | undefined;
      /** Where the page before ended: from its `Link`, with the same filters. */
      after?: string | undefined;
    };
    result: readonly Event[];
  };
  getActivationCode: {
    params: {
      /** Id of a `member.registered` event. */
      eventId: string;
    };
    result: ActivationCode;
  };
  acknowledgeActivationCode: {
    params: {
      /** Id of a `member.registered` event. */
      eventId: string;
    };
    result: CodeDelivery;
  };
  getEmailCode: {
    params: {
      /** Id of a `member.email_confirmation_requested` event. */
      eventId: string;
    };
    result: EmailCode;
  };
  acknowledgeEmailCode: {
    params: {
      /** Id of a `member.email_confirmation_requested` event. */
      eventId: string;
    };
    result: CodeDelivery;
  };
  deliverTransactions: {
    query: {
      /** `refused`: only lines that were refused, are stale or in conflict, and the summary. Default: `all`. */
      answers?: ShownAnswers | undefined;
    };
    body: CoreTransaction;
    result: unknown;
  };
  deliverRecords: {
    query: {
      /** `refused`: only lines that were refused, are stale or in conflict, and the summary. Default: `all`. */
      answers?: ShownAnswers | undefined;
      /** The moment of the loan figures in this delivery. Payments since then are subtracted. Default: the figures include every payment. */
      asOf?: string | undefined;
    };
    body: CoreRecord;
    result: unknown;
  };
  getAlertPreferences: {
    result: AlertPreferences;
  };
  updateAlertPreferences: {
    body: AlertPreferencesUpdate;
    result: AlertPreferences;
  };
  listAlerts: {
    query: {
      /** `true`: only those not read. */
      unread?: 'true' | 'false' | undefined;
      /** At most so many on a page; 50 when left out. */
      limit?: number | undefined;
      /** Where the page before ended: from its `Link`, with the same filters. */
      after?: string | undefined;
    };
    result: readonly MemberAlert[];
  };
  markAlert: {
    params: {
      /** Unique identifier of the alert. */
      alertId: string;
    };
    body: AlertMark;
    result: MemberAlert;
  };
  reportBounce: {
    body: BounceReport;
    result: BounceResult;
  };
  compareBalances: {
    query: {
      /** The moment of the balances, a date-time (2026-11-20T06:00:00Z), not before that of the newest comparison. */
      asOf: string;
      /** `true`: the delivery has all accounts, so one that it does not have is a break. Default: `false`. */
      complete?: boolean | undefined;
      /** The beginning of the core's list of postings. Default: a day before `asOf`. */
      since?: string | undefined;
    };
    body: CoreBalance;
    result: unknown;
  };
  listBreaks: {
    query: {
      /** Default: OPEN. */
      state?: 'OPEN' | 'ALL' | undefined;
      /** Only of this class. */
      class?: 'MISSING_HERE' | 'MISSING_THERE' | 'AMOUNT' | 'DUPLICATE' | 'TIMING' | 'UNKNOWN_ACCOUNT' | 'AMOUNT_MISMATCH' | 'BELOW_FLOOR' | 'REVERSAL_REJECTED' | undefined;
      /** Opened so long ago, or longer. */
      olderThanSeconds?: number | undefined;
      /** At most so many on a page; 50 when left out. */
      limit?: number | undefined;
      /** Where the page before ended: from its `Link`, with the same filters. */
      after?: string | undefined;
    };
    result: readonly Break[];
  };
  getBreak: {
    params: {
      /** The id of the break. */
      breakId: string;
    };
    result: Break;
  };
  updateBreak: {
    params: {
      /** The id of the break. */
      breakId: string;
    };
    body: BreakUpdate;
    result: Break;
  };
  createWebhook: {
    body: WebhookOrder;
    result: WebhookEndpoint;
  };
  listWebhooks: {
    result: readonly WebhookEndpoint[];
  };
  getWebhook: {
    params: {
      /** Unique identifier of the endpoint. */
      endpointId: string;
    };
    result: WebhookEndpoint;
  };
  updateWebhook: {
    params: {
      /** Unique identifier of the endpoint. */
      endpointId: string;
    };
    body: WebhookUpdate;
    result: WebhookEndpoint;
  };
  deleteWebhook: {
    params: {
      /** Unique identifier of the endpoint. */
      endpointId: string;
    };
    result: WebhookDeletion;
  };
  rotateWebhookSecret: {
    params: {
      /** Unique identifier of the endpoint. */
      endpointId: string;
    };
    body: WebhookRotation;
    result: WebhookKeys;
  };
  pingWebhook: {
    params: {
      /** Unique identifier of the endpoint. */
      endpointId: string;
    };
    result: WebhookAttempt;
  };
  replayWebhook: {
    params: {
      /** Unique identifier of the endpoint. */
      endpointId: string;
    };
    body: WebhookReplay;
    result: ReplayedEvents;
  };
  listWebhookAttempts: {
    params: {
      /** Unique identifier of the endpoint. */
      endpointId: string;
    };
    query: {
      /** At most so many on a page; 50 when left out. */
      limit?: number | undefined;
      /** Where the page before ended: from its `Link`, with the same filters. */
      after?: string | undefined;
    };
    result: readonly WebhookAttempt[];
  };
  listWebhookDeliveries: {
    params: {
      /** Unique identifier of the endpoint. */
      endpointId: string;
    };
    query: {
      /** WAITING: for another attempt, or for an earlier event of the same accounts. PARKED: all attempts failed. Default: PARKED. */
      state?: 'WAITING' | 'PARKED' | undefined;
      /** At most so many on a page; 50 when left out. */
      limit?: number | undefined;
      /** Where the page before ended: from its `Link`, with the same filters. */
      after?: string | undefined;
    };
    result: readonly WebhookDelivery[];
  };
  getFdxCustomer: {
    result: FdxCustomer;
  };
  listFdxAccounts: {
    query: {
      /** `lightweight`, the default: descriptors. `details`: with balances. */
      resultType?: 'lightweight' | 'details' | undefined;
    };
    result: FdxAccounts;
  };
  getFdxAccount: {
    params: {
      /** Unique identifier of the account. */
      accountId: string;
    };
    result: FdxAccount;
  };
  listFdxTransactions: {
    params: {
      /** Unique identifier of the account. */
      accountId: string;
    };
    query: {
      /** The beginning, inclusive: a day of the institution’s calendar (2026-11-20), or a date-time (2026-11-20T15:04:05Z). */
      startTime?: string | undefined;
      /** The end, inclusive: a day of the institution’s calendar, or a date-time. */
      endTime?: string | undefined;
      /** At most so many on a page; 50 when left out. */
      limit?: number | undefined;
      /** The `nextOffset` of the page before, with the same times. */
      offset?: string | undefined;
    };
    result: FdxTransactions;
  };
  livez: {
    result: ServiceStatus;
  };
  readyz: {
    result: ServiceStatus;
  };
  version: {
    result: ServiceVersion;
  };
}
