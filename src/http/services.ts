import type { Account, Balances } from '../accounts/index.ts';
import type { AlertPreferences, ShownAlert, WantedPreferences } from '../alerts/index.ts';
import type {
  ActivationForm,
  AuthorizationServerMetadata,
  Browser,
  CodeAttempt,
  Consent,
  HandedOverCode,
  Identified,
  Introspection,
  Logout,
  Narrowing,
  Parameters,
  Presented,
  PushedRequest,
  RawTokenRequest,
  SentChoice,
  Step,
  TokenResponse,
} from '../auth/index.ts';
import type {
  Answer,
  Break,
  BreakChange,
  BreakFilter,
  BreakWithStory,
  CompareRequest,
  ComparisonReport,
  CoreConnection,
  InstructionRequest,
  RecordCounts,
  RecordResult,
  TransactionCounts,
  TransactionResult,
} from '../core-connection/index.ts';
import type { Origin } from '../events/index.ts';
import type {
  EffectiveBalances,
  FeedEvent,
  FeedStart,
  Transaction,
  TransactionFilter,
} from '../feed/index.ts';
import type { Actor, ClientActor, InstitutionId, LocalDate, MemberActor } from '../institutions/index.ts';
import type { ContactChange, Profile, Registration, UserIdType } from '../members/index.ts';
import type { Basis, LogPosition, ValidatedMemory } from '../memory/index.ts';
import type { OperatorDeps } from '../operators/index.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type {
  ActOutcome,
  Decision,
  DeliveredInstruction,
  Outcome,
  OutcomeReport,
  RepeatedOutcome,
  Transfer,
  TransferFilter,
  TransferOptions,
  TransferOrder,
} from '../transfers/index.ts';
import type {
  Attempt,
  EndpointKeys,
  EndpointSettings,
  Replay,
  ShownEndpoint,
  WaitingEvent,
  WebhookChange,
} from '../webhooks/index.ts';

/**
 * The use cases that the HTTP edge calls, each bound to its database, clock and keys. app/service.ts builds them; tests of
 * the edge pass fakes.
 */
export interface Services {
  /**
   * The services at the host name of an institution, which know its clients and tokens only; undefined if no institution has the name. Problem
   * `institution_moving`, `institution_elsewhere`, `database_unavailable`.
   */
  at(hostName: string): Promise<Services | undefined>;
  /** OAuthError, Problem `overloaded`. */
  issueToken(request: RawTokenRequest): Promise<TokenResponse>;
  /** OAuthError. */
  pushRequest(request: RawTokenRequest): Promise<PushedRequest>;
  readonly signIn: SignInServices;
  /** The operations of operators call the use cases themselves; the command line calls the same. */
  readonly operators: OperatorDeps;
  /** The profile of the member. */
  getUserInfo(actor: MemberActor): Promise<Profile>;
  listConsents(actor: MemberActor): Promise<Consent[]>;
  /** Problem `not_found`, `invalid_request`. */
  narrowConsent(
    actor: MemberActor,
    change: { readonly consentId: string; readonly narrowing: Narrowing; readonly origin: Origin },
  ): Promise<Consent>;
  /** Problem `not_found`. */
  withdrawConsent(actor: MemberActor, consentId: string, origin: Origin): Promise<void>;
  /** OAuthError. */
  revokeToken(request: RawTokenRequest): Promise<void>;
  /** OAuthError. */
  introspectToken(request: RawTokenRequest): Promise<Introspection>;
  /** RFC 8414. */
  readonly authorizationServer: AuthorizationServerMetadata;
  /** Public keys as JWKs (RFC 7517). */
  publishedKeys(): Promise<object[]>;
  /** `admit` receives the client's name before the database is read, and may throw. */
  identify(token: string, admit: (client: string) => void, presented?: Presented): Identified;
  /** The nonce of the next proof of a key (RFC 9449 section 8). */
  proofNonce(): string;

  registerMember(actor: ClientActor, registration: Registration, origin: Origin): Promise<Profile>;
  activateMember(actor: ClientActor, activation: Activation, origin: Origin): Promise<Profile>;
  /** Ends all of the member's tokens. */
  changePassword(actor: MemberActor, change: PasswordChange, origin: Origin): Promise<Profile>;
  readonly memory: ValidatedMemory;
  /** Pages of history may be read from standbys. Their callers pass `seen`, below: a standby that has replayed so much may answer. */
  readonly hasStandbys: boolean;

  /** `basis` collects the things that the answer stands on, here and below. */
  getProfile(actor: Actor, wanted: { id: string; idType: UserIdType; basis: Basis }): Promise<Profile>;
  updateContact(actor: Actor, customerId: string, change: ContactChange, origin: Origin): Promise<Profile>;
  confirmEmail(actor: Actor, emailCode: string, origin: Origin): Promise<Profile>;

  /** TooManyDifferencesError, TruncatedError, SlowLineError. */
  compareCoreBalances(
    actor: ClientActor,
    delivery: {
      bytes: AsyncIterable<Uint8Array>;
      format: 'lines' | 'document';
      origin: Origin;
      request: CompareRequest;
    },
  ): AsyncGenerator<readonly Answer[], ComparisonReport>;
  readonly breaks: BreakServices;

  /** The time that balances are true for while the core that keeps the books is away; else null. */
  balancesAsOf(actor: Actor, basis: Basis): Promise<Date | null>;
  getAccount(actor: Actor, accountId: string, basis: Basis): Promise<Account>;
  listAccounts(actor: Actor, customerId: string | undefined, basis: Basis): Promise<Account[]>;
  listCustomerAccounts(actor: Actor, customerId: string, basis: Basis): Promise<Account[]>;
  listTransactions(
    actor: Actor,
    accountId: string,
    wanted: { filter: TransactionFilter; page: PageRequest; basis: Basis; seen: LogPosition | null },
  ): Promise<Page<Transaction>>;
  /** `asOf` null means now. */
  getBalances(
    actor: Actor,
    accountId: string,
    wanted: { asOf: Date | null; seen: LogPosition | null },
  ): Promise<Balances>;
  getEffectiveBalances(
    actor: Actor,
    accountId: string,
    wanted: { effectiveDate: LocalDate; seen: LogPosition | null },
  ): Promise<EffectiveBalances>;

  /** Verifies the actor's token in the transaction that decides the order. Problem `invalid_token`. */
  initiateTransfer(actor: Actor, order: TransferOrder, origin: Origin): Promise<Outcome>;
  /** The dry run of `initiateTransfer`. */
  explainTransfer(actor: Actor, order: TransferOrder): Promise<Decision | RepeatedOutcome>;
  listTransferOptions(actor: Actor, fromAccountId: string): Promise<TransferOptions>;
  cancelTransfer(actor: Actor, transferId: string, origin: Origin): Promise<Transfer>;
  getTransfer(actor: Actor, transferId: string): Promise<Transfer>;
  listTransfers(
    actor: Actor,
    filter: TransferFilter,
    wanted: { page: PageRequest; seen: LogPosition | null },
  ): Promise<Page<Transfer>>;

  /** Resolves with the transfer when it is no longer pending, or undefined after this time; `left` ends the wait. */
  awaitTransfer(actor: Actor, transferId: string, patience: Patience): Promise<Transfer | undefined>;

  /** Notes that the institution's core is there, at most once a second. */
  heardFromCore(actor: ClientActor): Promise<void>;
  /** Leases the next instructions to the client, or waits for some. */
  askInstructions(
    actor: ClientActor,
    request: InstructionRequest & Pick<Patience, 'left'>,
  ): Promise<DeliveredInstruction[]>;
  reportOutcome(
    actor: ClientActor,
    report: Pick<OutcomeReport, 'transferId' | 'outcome' | 'origin'>,
  ): Promise<ActOutcome>;
  getCoreConnection(actor: ClientActor): Promise<CoreConnection>;

  readEvents(actor: ClientActor, start: FeedStart & { readonly limit: number }): Promise<Page<FeedEvent>>;
  getCode(kind: CodeName, actor: ClientActor, eventId: string, origin: Origin): Promise<HandedOverCode>;
  acknowledgeCode(kind: CodeName, actor: ClientActor, eventId: string, origin: Origin): Promise<void>;
  /** The answers of each batch after its commit. Problem `invalid_token`; TruncatedError, SlowLineError. */
  takeCoreTransactions(
    actor: ClientActor,
    delivery: CoreDelivery,
  ): AsyncGenerator<readonly Answer<TransactionResult>[], TransactionCounts>;
  /** As `takeCoreTransactions`; `asOf` is the moment of the loan figures. Problem `invalid_request` if it is in the future. */
  takeCoreRecords(
    actor: ClientActor,
    delivery: CoreDelivery & { readonly asOf: Date | undefined },
  ): AsyncGenerator<readonly Answer<RecordResult>[], RecordCounts>;
  readonly alerts: AlertServices;
  readonly mail: MailServices;
  readonly unsubscribe: UnsubscribeServices;
  /** By its hash. */
  readonly findLogo: (hash: string) => Promise<Uint8Array | undefined>;
  readonly webhooks: WebhookServices;

  /** For the audit: a burst of the caller's was refused. */
  noteRate(actor: Actor, rate: string, origin: Origin): void;
  /** For the audit: the caller named a transfer id that belongs to another order. */
  noteIdConflict(actor: Actor, origin: Origin): void;

  /**
   * Resolves when requests can be served, database included, with the reason why the service is degraded or null. Problems
   * `database_unavailable`, `shutting_down`.
   */
  ready(): Promise<CommitDelay | null>;
}

/** The pages on which members sign in and consent. Throws UnsafeRequestError, Problem `overloaded`. */
interface SignInServices {
  authorize(parameters: Parameters, browser: Browser): Promise<Step>;
  signIn(
    sent: { readonly request: string; readonly username: string; readonly password: string },
    browser: Browser,
  ): Promise<Step>;
  signInWithPasskey(
    sent: { readonly request: string; readonly credential: string },
    browser: Browser,
  ): Promise<Step>;
  /** The second step, after the page that asks for it. */
  signInWithCode(
    sent: { readonly request: string; readonly typed: CodeAttempt['typed'] },
    browser: Browser,
  ): Promise<Step>;
  /** Without a username: the page that asks for it. */
  forgottenPassword(
    sent: { readonly request: string; readonly username: string | undefined },
    browser: Browser,
  ): Promise<Step>;
  /** Without a form: the page of activation. */
  activate(
    sent: { readonly request: string; readonly form: ActivationForm | undefined },
    browser: Browser,
  ): Promise<Step>;
  openSecurityPage(parameters: Parameters, browser: Browser): Promise<Step>;
  addPasskey(
    sent: { readonly request: string; readonly credential: string; readonly name: string },
    browser: Browser,
  ): Promise<Step>;
  removePasskey(
    sent: { readonly request: string; readonly passkeyId: string },
    browser: Browser,
  ): Promise<Step>;
  beginAuthenticator(sent: { readonly request: string }, browser: Browser): Promise<Step>;
  confirmAuthenticator(
    sent: { readonly request: string; readonly code: string; readonly name: string },
    browser: Browser,
  ): Promise<Step>;
  removeAuthenticator(sent: { readonly request: string }, browser: Browser): Promise<Step>;
  renewRecoveryCodes(sent: { readonly request: string }, browser: Browser): Promise<Step>;
  endAccess(sent: { readonly request: string; readonly access: string }, browser: Browser): Promise<Step>;
  narrowConsent(
    sent: { readonly request: string; readonly removed: string },
    browser: Browser,
  ): Promise<Step>;
  /** `consentDays` undefined refuses. */
  answerConsent(
    sent: {
      readonly request: string;
      readonly consentDays: number | undefined;
      readonly choice: SentChoice;
    },
    browser: Browser,
  ): Promise<Step>;
  logOut(parameters: Parameters, browser: Browser): Promise<Logout>;
  logOutEverywhere(institutionIds: readonly InstitutionId[], browser: Browser): Promise<Logout>;
}

/** How long a request waits. */
interface Patience {
  readonly millis: number;
  readonly left: AbortSignal;
}

/** Each acts for the calling member. */
export interface AlertServices {
  preferences(actor: MemberActor): Promise<AlertPreferences>;
  /** Problem `invalid_request`. */
  replacePreferences(
    actor: MemberActor,
    wanted: WantedPreferences,
    origin: Origin,
  ): Promise<AlertPreferences>;
  list(
    actor: MemberActor,
    wanted: { readonly unreadOnly: boolean; readonly page: PageRequest },
  ): Promise<Page<ShownAlert>>;
  /** Problem `not_found`. */
  mark(
    actor: MemberActor,
    wanted: { readonly alertId: string; readonly isRead: boolean; readonly origin: Origin },
  ): Promise<ShownAlert>;
}

/** Each acts for the institution of the calling client. */
export interface MailServices {
  /** Problem `invalid_request`. */
  suppress(
    actor: ClientActor,
    report: {
      readonly address: string;
      readonly reason: 'BOUNCED' | 'COMPLAINED';
      readonly origin: Origin;
    },
  ): Promise<void>;
}

/** The page behind the link of a message. */
export interface UnsubscribeServices {
  /** Undefined for a link that is not ours. */
  pageOf(token: string): UnsubscribePage | undefined;
  stop(token: string, origin: Origin): Promise<void>;
}

export interface UnsubscribePage {
  readonly language: string;
  readonly title: string;
  readonly lead: string;
  readonly submit: string;
  readonly done: string;
}

/** Each acts on the endpoints of the calling client only. Problem `not_found` for another. */
export interface WebhookServices {
  /** Problems `invalid_request`, `too_many_endpoints`. */
  create(
    actor: ClientActor,
    settings: EndpointSettings,
    origin: Origin,
  ): Promise<{ readonly endpoint: ShownEndpoint; readonly keys: EndpointKeys }>;
  list(actor: ClientActor): Promise<ShownEndpoint[]>;
  get(actor: ClientActor, endpointId: string): Promise<ShownEndpoint>;
  /** Problem `invalid_request`. */
  change(
    actor: ClientActor,
    wanted: { readonly endpointId: string; readonly change: WebhookChange },
    origin: Origin,
  ): Promise<ShownEndpoint>;
  /** Problem `rotation_under_way`. */
  rotate(
    actor: ClientActor,
    wanted: { readonly endpointId: string; readonly overlapHours: number },
    origin: Origin,
  ): Promise<EndpointKeys>;
  delete(actor: ClientActor, endpointId: string, origin: Origin): Promise<void>;
  ping(actor: ClientActor, endpointId: string, origin: Origin): Promise<Attempt>;
  /** Problem `invalid_request`. */
  replay(
    actor: ClientActor,
    wanted: { readonly endpointId: string; readonly replay: Replay },
    origin: Origin,
  ): Promise<{ readonly events: number }>;
  attempts(
    actor: ClientActor,
    wanted: { readonly endpointId: string; readonly page: PageRequest },
  ): Promise<Page<Attempt>>;
  deliveries(
    actor: ClientActor,
    wanted: {
      readonly endpointId: string;
      readonly state: 'WAITING' | 'PARKED';
      readonly page: PageRequest;
    },
  ): Promise<Page<WaitingEvent>>;
}

/** The reason why commits wait: a standby, or the server itself. */
export type CommitDelay = 'commits_wait_for_standby' | 'commits_wait';

/** The body of a delivery of the core: one object a line, or one document. */
interface CoreDelivery {
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly format: 'lines' | 'document';
  readonly origin: Origin;
}

/** The kinds of one-time codes that the institution fetches by an event. */
export type CodeName = 'activation' | 'email';

interface Activation {
  readonly activationCode: string;
  readonly username: string;
  readonly password: string;
}

interface PasswordChange {
  readonly currentPassword: string;
  readonly newPassword: string;
}

/** The differences between the core's books and these. Undefined: there is no such break. */
interface BreakServices {
  list(actor: ClientActor, wanted: { filter: BreakFilter; page: PageRequest }): Promise<Page<Break>>;
  get(actor: ClientActor, breakKey: bigint): Promise<BreakWithStory | undefined>;
  change(
    actor: ClientActor,
    wanted: { breakKey: bigint; change: BreakChange; origin: Origin },
  ): Promise<BreakWithStory | 'closed' | undefined>;
}
