// The operations of operators (/operations/v1), as this console uses them. The session is a cookie that no script can read; the service counts
// it only for requests from its own pages.
import { SignedOutError } from '../common/signed-out-error.ts';
import { isAttended } from './attention.ts';

export interface Session {
  readonly operatorId: string;
  readonly name: string;
  readonly roles: readonly string[];
  /** The rights that decide which screens and acts show. The service checks them again at each request. */
  readonly rights: readonly string[];
  /** Until the session ends without use, and in any case. */
  readonly idleInSeconds: number;
  readonly expiresInSeconds: number;
  readonly institution: {
    readonly code: string;
    readonly name: string;
    readonly currency: string;
    readonly timeZone: string;
    readonly logoUrl: string | null;
    /** The style sheet with its color. */
    readonly styleUrl: string | null;
  };
}

export interface WaitingTransfer {
  readonly kind: 'transfer';
  readonly id: string;
  readonly type: string | null;
  readonly fromAccountId: string;
  readonly toAccountId: string;
  readonly amount: string;
  readonly currencyCode: string;
  readonly heldFor: string;
  readonly whenDue: string;
  readonly dueAt: string;
  readonly createdAt: string;
  readonly approvalsNeeded: number;
  readonly approvedBy: readonly string[];
  readonly isOrdererShutOut: boolean;
  readonly reasons: readonly WaitingReason[];
  /** The core has its instruction, and may have carried it out. */
  readonly isWithCore: boolean;
  /** Those that the signed-in operator may take now. */
  readonly decisions: readonly Decision[];
}

/** A reason why a transfer waits, with the figures of its decision. */
export type WaitingReason =
  | { readonly kind: 'SCREENING'; readonly answer: string; readonly reference: string | null }
  | { readonly kind: 'AMOUNT'; readonly threshold: string }
  | {
      readonly kind: 'TOTAL';
      readonly threshold: string;
      readonly used: string;
      readonly limit: { readonly subject: string; readonly period: string };
    }
  | { readonly kind: 'CUT_OFF'; readonly cutOff: string | null }
  | { readonly kind: 'CORE' }
  | { readonly kind: 'NOT_KNOWN' };

export type Decision = 'approve' | 'decline';

/** An account of a transfer with its balances of now, as its holder sees them. */
export interface SideOfTransfer {
  readonly accountId: string;
  readonly accountType: string;
  readonly description: string;
  readonly category: string;
  readonly memberNumber: string;
  readonly currency: string;
  readonly closed: boolean;
  readonly coreRestriction: string | null;
  readonly operatorRestriction: string | null;
  readonly current: string;
  /** Null for a loan. */
  readonly available: string | null;
  readonly holdsOut: string;
  readonly holdsIn: string;
}

/** Null for an account that is no member's. */
export interface SidesOfTransfer {
  readonly from: SideOfTransfer | null;
  readonly to: SideOfTransfer | null;
}

/** Transfers that completed before another one, in its currency. */
export interface UsualFigures {
  readonly transfers: number;
  /** There are more: the newest ones count. */
  readonly isCut: boolean;
  readonly median: string | null;
  readonly largest: string | null;
  readonly atLeastAsLarge: number;
  readonly toPayee: number;
  readonly lastToPayee: { readonly id: string; readonly amount: string; readonly at: string } | null;
}

export interface UsualOfTransfer {
  readonly since: string;
  readonly until: string;
  readonly currencyCode: string;
  readonly source: UsualFigures;
  /** The other accounts of the membership. */
  readonly others: UsualFigures;
}

/** An act that waits for a second person. */
export interface Proposal {
  readonly kind: 'proposal';
  readonly id: string;
  readonly type: 'REVERSAL' | 'RULES' | 'ADJUSTMENT';
  readonly proposedBy: string;
  readonly proposedAt: string;
  readonly expiresAt: string;
  readonly reason: string | null;
  /** Of a reversal and an adjustment. */
  readonly amount?: string;
  readonly currencyCode?: string;
  readonly fromAccountId?: string;
  readonly toAccountId?: string;
  readonly accountId?: string;
  /** Of rules: the rows that change, by their names. */
  readonly change?: ProposedChange;
  /** Whether the same act of the signed-in operator confirms it. */
  readonly mayConfirm: boolean;
}

export interface ProposedChange {
  /** Null ends an exception. */
  readonly days: readonly { readonly day: string; readonly open: boolean | null }[];
  readonly policies: readonly string[];
  readonly limits: readonly string[];
  readonly contributionLimits: readonly string[];
}

export interface FoundTransfer {
  readonly id: string;
  readonly transferType: string | null;
  readonly fromAccountId: string;
  readonly toAccountId: string;
  readonly amount: string;
  readonly currencyCode: string;
  readonly status: 'PENDING' | 'COMPLETED' | 'FAILED';
  readonly failureCode: string | null;
  readonly userId: string | null;
  readonly operator: string | null;
  readonly createdAt: string;
  readonly settledAt: string | null;
}

export interface ShownTransfer extends FoundTransfer {
  readonly memo: string | null;
  readonly failureDetail: string | null;
  readonly exceededLimit: {
    readonly subject: string;
    readonly period: string;
    readonly resetsAt: string | null;
  } | null;
  readonly reverses: string | null;
  readonly reversedBy: string | null;
  readonly clientId: string | null;
  readonly requestId: string | null;
  readonly pending: {
    readonly heldFor: string;
    readonly dueAt: string;
    readonly whenDue: string;
    readonly approvalsNeeded: number;
    readonly notBefore: string | null;
    readonly isOrdererShutOut: boolean;
    readonly isWithCore: boolean;
    readonly decisions: readonly Decision[];
  } | null;
  readonly screening: {
    readonly verdict: string;
    readonly answer: string;
    readonly reference: string | null;
  } | null;
  readonly approvals: readonly { readonly operator: string; readonly approvedAt: string }[];
  readonly entries: readonly {
    readonly accountId: string;
    readonly entry: number;
    readonly kind: string;
    readonly amount: string;
    readonly balanceAfter: string;
    readonly debitsPendingAfter: string;
    readonly creditsPendingAfter: string;
    readonly recordedAt: string;
  }[];
  readonly steps: readonly {
    readonly at: string;
    readonly step: string;
    readonly afterMillis: number | null;
  }[];
  readonly checks: readonly CheckOfTransfer[];
  readonly core: CoreInstruction | null;
  readonly events: readonly EventOfTransfer[];
}

/** A check of the decision, with the figures of its moment. */
export interface CheckOfTransfer {
  readonly check:
    | 'SIGN_IN'
    | 'ACCOUNTS'
    | 'STATE'
    | 'CURRENCY'
    | 'TYPE'
    | 'PAYMENT_OPTION'
    | 'LIMIT'
    | 'PAYOFF'
    | 'CONTRIBUTION'
    | 'FUNDS'
    | 'STAND_IN'
    | 'SCREENING'
    | 'REVIEW_TOTAL'
    | 'REVIEW'
    | 'CUT_OFF'
    | 'CORE';
  readonly outcome: 'PASSED' | 'REFUSED' | 'HELD' | 'NOT_ASKED' | 'NOT_KNOWN';
  readonly source: 'STORED' | 'RECOMPUTED' | 'NOT_KEPT' | null;
  readonly limit: { readonly subject: string; readonly period: string } | null;
  readonly figures: readonly { readonly name: string; readonly amount?: string; readonly count?: number }[];
  readonly headroom: string | null;
}

/** The bound of half of the observations, and of 99 in 100; null: above the largest bound. */
interface Spread {
  readonly half: number | null;
  readonly most: number | null;
}

/** The queues and batches of all processes of the service. */
export interface WorkFigures {
  readonly queues: readonly { readonly queue: string; readonly waiting: number; readonly capacity: number }[];
  readonly lanes: number;
  readonly lanesBusy: number;
  readonly batchOrders: Spread | null;
  readonly waitSeconds: Spread | null;
}

export interface SystemFacts {
  readonly version: string;
  readonly node: string;
  readonly database: {
    readonly serverVersion: string;
    readonly now: string;
    readonly isEncrypted: boolean;
    readonly serviceConnections: number;
    readonly transactionAge: number;
    readonly multixactAge: number;
    readonly longestTransactionSeconds: number;
    readonly preparedTransactions: number;
    readonly invalidIndexes: readonly string[];
    readonly bloatedTables: readonly string[];
  };
  readonly work: WorkFigures | null;
}

export interface CalendarDay {
  readonly day: string;
  readonly weekday: string;
  readonly open: boolean;
  readonly source: string;
}

export interface DayChange {
  readonly outcome: 'DONE' | 'UNCHANGED' | 'PROPOSED';
}

export interface CoreConnection {
  readonly state: 'connected' | 'late' | 'away';
  readonly heardAt?: string;
  readonly oldestUndeliveredAt?: string;
}

/** An instruction that the core has not decided. */
export interface OpenInstruction {
  readonly sequence: number;
  readonly id: string;
  readonly mode: string;
  readonly fromAccountId: string;
  readonly toAccountId: string;
  readonly amount: string;
  readonly currencyCode: string;
  readonly leasedBy: string | null;
  readonly leaseUntil: string | null;
}

/** The instruction to the core, and the outcome that the core reported. */
export interface CoreInstruction {
  readonly mode: 'WAIT' | 'MEMO' | 'STAND_IN';
  readonly state: 'OPEN' | 'ACCEPTED' | 'REJECTED' | 'WITHDRAWN';
  readonly issuedAt: string;
  readonly deliveredAt: string | null;
  readonly fileNumber: number | null;
  readonly decidedAt: string | null;
  readonly coreReference: string | null;
  readonly refusalCode: string | null;
  readonly refusalReason: string | null;
  readonly decidedBy: string | null;
  readonly decidedOperator: string | null;
}

export interface EventOfTransfer {
  readonly eventId: string;
  readonly sequence: number;
  readonly eventType: string;
  readonly at: string;
  readonly deliveries: readonly DeliveryOfEvent[];
}

/** The state of an event at a webhook. */
export interface DeliveryOfEvent {
  readonly endpointId: string;
  readonly clientId: string | null;
  readonly url: string;
  readonly endpointStatus: Webhook['status'];
  readonly state: 'DELIVERED' | 'WAITING' | 'PARKED' | 'BEHIND' | 'PASSED' | 'NEWER' | 'NOT_SUBSCRIBED';
  readonly behind: number | null;
  readonly attempts: number;
  readonly lastAttempt: {
    readonly attemptedAt: string;
    readonly delivered: boolean;
    readonly status: number | null;
    readonly error: string | null;
  } | null;
  readonly nextAttemptAt: string | null;
}

export interface FoundPerson {
  readonly personId: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string | null;
  readonly userId: string | null;
  readonly username: string | null;
  readonly active: boolean | null;
  readonly locked: boolean | null;
  readonly memberships: readonly { readonly memberNumber: string; readonly role: string }[];
}

export interface ShownMember {
  readonly personId: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string | null;
  readonly phoneNumber: string | null;
  readonly memberships: readonly {
    readonly memberNumber: string;
    readonly memberType: string;
    readonly role: string;
    readonly others: readonly { readonly personId: string; readonly role: string }[];
  }[];
  readonly accounts: readonly Holding[];
  readonly login: Login | null;
  readonly sessions: readonly {
    readonly clientId: string | null;
    readonly startedAt: string;
    readonly refreshedAt: string;
    readonly idleUntil: string;
    /** Of a browser. */
    readonly device: string | null;
    readonly address: string | null;
  }[];
  readonly consents: readonly Consent[];
  readonly passkeys: readonly {
    readonly name: string;
    readonly isSynced: boolean;
    readonly createdAt: string;
    readonly lastUsedAt: string | null;
  }[];
  readonly authenticator: {
    readonly name: string;
    readonly createdAt: string;
    readonly lastUsedAt: string | null;
    readonly recoveryCodes: number;
  } | null;
  readonly devices: readonly {
    readonly kind: string | null;
    readonly clientName: string | null;
    /** Of a browser. */
    readonly name: string | null;
    readonly firstSeenAt: string;
    readonly lastSeenAt: string;
  }[];
  /** Null: the person has not registered. */
  readonly alerts: AlertsOfMember | null;
  readonly activity: readonly {
    readonly key: string;
    readonly at: string;
    readonly action: string;
    readonly outcome: string;
    readonly reason: string | null;
    readonly isByOperator: boolean;
    readonly clientName: string | null;
    readonly address: string | null;
    readonly transferId: string | null;
    readonly times: number;
  }[];
}

export interface AlertsOfMember {
  /** Null: the member has chosen nothing. */
  readonly settings: {
    readonly timeZone: string;
    readonly quietFrom: string | null;
    readonly quietTo: string | null;
    readonly digestAt: string | null;
    readonly securityChannels: readonly string[];
  } | null;
  readonly rules: readonly AlertRule[];
  readonly last: readonly SentAlert[];
}

export interface AlertRule {
  readonly alertType: string;
  readonly accountId: string;
  readonly threshold: string | null;
  readonly currency: string;
  readonly channels: readonly string[];
}

export interface SentAlert {
  readonly alertId: string;
  readonly alertType: string;
  readonly releasedAt: string;
  readonly accountId: string | null;
  readonly transferId: string | null;
  readonly channels: readonly string[];
}

export interface Consent {
  readonly consentId: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly scopes: readonly string[];
  readonly allAccounts: boolean;
  readonly accountIds: readonly string[];
  readonly grantedAt: string;
  readonly expiresAt: string;
}

export interface Holding {
  readonly accountId: string;
  readonly accountType: string;
  readonly memberNumber: string;
  readonly role: string;
  readonly mayPay: boolean;
  readonly closed: boolean;
  readonly delinquent: boolean;
  readonly coreRestriction: string | null;
  readonly operatorRestriction: string | null;
  readonly currency: string;
  readonly balance: string;
}

export interface Login {
  readonly userId: string;
  readonly username: string | null;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly registeredAt: string;
  readonly state: string;
  readonly lockedUntil: string | null;
  readonly failedLogins: number;
}

export interface ShownAccount {
  readonly accountId: string;
  /** Of an account of the institution itself; null for a member's. */
  readonly purpose: string | null;
  readonly accountNumber: string;
  readonly accountType: string;
  readonly description: string;
  readonly category: string;
  readonly currency: string;
  /** Null for an account of the institution itself. */
  readonly memberNumber: string | null;
  readonly closed: boolean;
  readonly delinquent: boolean;
  readonly coreRestriction: string | null;
  readonly operatorRestriction: string | null;
  readonly balance: string;
  readonly holdsOut: string;
  readonly holdsIn: string;
  readonly holders: readonly {
    readonly personId: string;
    readonly role: string;
    readonly mayPay: boolean;
  }[];
}

export interface Entry {
  readonly entry: number;
  readonly at: string;
  readonly kind: string;
  readonly amount: string;
  readonly balanceAfter: string;
  readonly holdsOutAfter: string;
  readonly holdsInAfter: string;
  readonly transferId: string | null;
}

/** An entry with the entry on its other side. Credit is positive, as in the ledger. */
export interface Posting {
  readonly kind: string;
  readonly at: string;
  readonly currency: string;
  readonly transferId: string | null;
  readonly core: {
    readonly transactionId: string;
    readonly kind: string;
    readonly postedAt: string;
    readonly effectiveDate: string;
    readonly description: string;
    readonly merchant: string | null;
    readonly checkNumber: string | null;
    readonly authorizationId: string | null;
  } | null;
  readonly sides: readonly {
    readonly accountId: string;
    readonly accountType: string;
    readonly description: string;
    readonly isInternal: boolean;
    readonly entry: number;
    readonly kind: string;
    readonly amount: string;
    readonly balanceAfter: string;
    readonly holdsOutAfter: string;
    readonly holdsInAfter: string;
  }[];
}

/** In the order of time; the last one is now. */
export interface BalanceHistory {
  readonly currency: string;
  readonly balances: readonly { readonly before: string; readonly balance: string }[];
}

export interface Limit {
  readonly limitKey: string;
  readonly subject: string;
  /** Null for the institution as a whole. */
  readonly subjectId: string | null;
  readonly period: string;
  readonly transferType: string | null;
  readonly currency: string;
  readonly used: string;
  readonly maxAmount: string | null;
  readonly remaining: string | null;
  readonly transfers: number;
  readonly maxCount: number | null;
  readonly resetsAt: string | null;
}

export interface Client {
  readonly clientId: string;
  readonly name: string;
  readonly active: boolean;
  readonly grants: readonly string[];
  readonly scopes: readonly string[];
  readonly secrets: number;
  readonly kids: readonly string[];
  readonly certificateThumbprints: readonly string[];
  readonly requiresDpop: boolean;
  readonly bindsToCertificate: boolean;
  readonly securityProfile: string;
  /** Null: as the service has it. */
  readonly tokenLifetimeSeconds: number | null;
}

export interface IdentityProvider {
  readonly providerId: string;
  readonly kind: 'jwt' | 'saml';
  readonly issuer: string;
  readonly audience: string;
  readonly active: boolean;
  /** The claim, or the format of the NameID, that names the member. */
  readonly subjectFrom: string;
  readonly userIdType: string;
  readonly scopes: readonly string[];
  readonly resourceTokens: boolean;
  readonly tokenType: string;
  readonly keys: readonly { readonly kid?: string }[];
}

export interface ChainVerdict {
  readonly chain: string;
  readonly from: number;
  readonly to: number;
  readonly entries: number;
  readonly anchors: number;
  readonly intact: boolean;
}

export interface SigningKey {
  readonly kid: string;
  readonly state: string;
  readonly createdAt: string;
  readonly signsFrom: string;
}

export interface Operator {
  readonly operatorId: string;
  readonly name: string;
  readonly email: string | null;
  readonly roles: readonly string[];
  readonly status: string;
  readonly source: string;
  readonly createdAt: string;
}

/** The code is shown once. */
export interface Invitation {
  readonly operator: Operator;
  readonly code: string;
  readonly expiresAt: string;
}

interface Minute {
  readonly minutesAgo: number;
  readonly transfers: number;
}

export interface Today {
  readonly at: string;
  readonly since: string;
  readonly moved: readonly {
    readonly transferType: string | null;
    readonly status: string;
    readonly currency: string;
    readonly transfers: number;
    readonly amount: string;
  }[];
  readonly declines: readonly { readonly failureCode: string | null; readonly transfers: number }[];
  /** A minute without a transfer is left out. */
  readonly perMinute: { readonly lastHour: readonly Minute[]; readonly hourYesterday: readonly Minute[] };
  readonly waiting: readonly {
    readonly heldFor: string;
    readonly transfers: number;
    /** The youngest band first. */
    readonly ages: readonly { readonly age: string; readonly transfers: number }[];
    readonly oldestAt: string | null;
    readonly nextDueAt: string | null;
  }[];
  readonly signIns: readonly { readonly outcome: string; readonly signIns: number }[];
  readonly webhooks: {
    readonly endpoints: number;
    readonly disabled: number;
    readonly failingSince: string | null;
    /** Of the webhook that is the furthest behind; up to 1,000. */
    readonly eventsBehind: number;
    readonly lagSeconds: number | null;
  };
  readonly core: { readonly heardAt: string | null; readonly oldestUndeliveredAt: string | null };
  readonly reconcile: {
    readonly finishedAt: string | null;
    readonly findings: number | null;
    /** Null for a run of a version that kept no findings. */
    readonly runId: string | null;
  };
}

export interface ReconcileRun {
  readonly id: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  /** Null: it checked every row. */
  readonly changedSince: string | null;
  readonly findings: number;
  readonly kept: number;
}

interface AboutKind {
  readonly kind: string;
  readonly meaning: string;
  readonly advice: string;
}

export interface ReconcileRunWithKinds extends ReconcileRun {
  readonly kinds: readonly (AboutKind & { readonly findings: number })[];
}

/** A row that a run found off. Amounts are those of its account, if one differs. */
export interface Finding extends AboutKind {
  readonly place: number;
  readonly subject: string;
  readonly detail: string;
  readonly accountId?: string;
  readonly entry?: number;
  readonly transferId?: string;
  readonly expected?: string;
  readonly found?: string;
  readonly difference?: string;
  readonly currencyCode?: string;
}

export interface Break {
  readonly id: string;
  readonly class: string;
  readonly accountId: string;
  /** The core's amount minus the one here. */
  readonly difference: string;
  readonly currencyCode: string;
  readonly transactionId?: string;
  readonly transferId?: string;
  readonly asOf?: string;
  readonly owner?: string;
  readonly openedAt: string;
  readonly closedAt?: string;
  readonly closedBy?: string;
}

export interface ShownBreak extends Break {
  readonly story: readonly { readonly at: string; readonly author: string | null; readonly note: string }[];
}

interface Figures {
  readonly currency: string;
  readonly debits: string;
  readonly credits: string;
  /** The credits less the debits. */
  readonly balance: string;
}

export interface ClassBalance extends Figures {
  readonly class: string;
  readonly isInternal: boolean;
  /** The one account of an internal class; null for a class of members' accounts. */
  readonly accountId: string | null;
  readonly accounts: number;
}

export interface TrialBalance {
  readonly at: string;
  readonly classes: readonly ClassBalance[];
  readonly totals: readonly Figures[];
}

export interface AccountOfClass {
  readonly accountId: string;
  readonly description: string;
  /** Null for an account of the institution itself. */
  readonly memberNumber: string | null;
  /** Credit is positive. */
  readonly balance: string;
}

export interface Flow {
  readonly from: string;
  readonly to: string;
  /** The one account of an internal class; null for a class of members' accounts. */
  readonly fromAccountId: string | null;
  readonly toAccountId: string | null;
  readonly currency: string;
  readonly postings: number;
  readonly amount: string;
}

export interface Flows {
  readonly from: string;
  readonly to: string;
  readonly flows: readonly Flow[];
}

export interface FoundAnything {
  readonly members: readonly FoundPerson[];
  readonly accounts: readonly {
    readonly accountId: string;
    /** Of an account of the institution itself its purpose. */
    readonly accountType: string;
    readonly memberNumber: string | null;
  }[];
  readonly transfers: readonly Pick<
    FoundTransfer,
    'id' | 'fromAccountId' | 'toAccountId' | 'status' | 'createdAt' | 'amount' | 'currencyCode'
  >[];
  readonly events: readonly {
    readonly eventId: string;
    readonly sequence: number;
    readonly eventType: string;
    readonly at: string;
    /** Null for an event that is about no transfer. */
    readonly transferId: string | null;
  }[];
  readonly clients: readonly Pick<Client, 'clientId' | 'name' | 'active'>[];
  readonly webhooks: readonly Pick<Webhook, 'endpointId' | 'url' | 'clientId' | 'status'>[];
  readonly breaks: readonly Break[];
  readonly operators: readonly Pick<Operator, 'operatorId' | 'name' | 'roles' | 'status'>[];
  readonly hasMore: Readonly<
    Record<'members' | 'transfers' | 'breaks' | 'clients' | 'webhooks' | 'operators', boolean>
  >;
}

export interface Webhook {
  readonly endpointId: string;
  /** Empty for the mail of alerts, which belongs to the institution. */
  readonly clientId: string;
  readonly url: string;
  readonly description?: string;
  readonly eventTypes?: readonly string[];
  readonly payload: string;
  readonly ordering: string;
  readonly status: 'ACTIVE' | 'PAUSED' | 'DISABLED';
  readonly statusReason?: string;
  readonly sequence: number;
  readonly failures: number;
  readonly failingSince?: string;
  readonly nextAttemptAt?: string;
}

export interface Attempt {
  readonly sequence?: number;
  readonly eventId: string;
  readonly eventType: string;
  readonly attemptedAt: string;
  readonly durationMs: number;
  readonly delivered: boolean;
  readonly status?: number;
  readonly error?: string;
}

export interface Delivery {
  readonly eventId: string;
  readonly sequence: number;
  readonly attempts: number;
  readonly nextAttemptAt?: string;
}

export interface AuditEntry {
  readonly key: number;
  readonly at: string;
  readonly action: string;
  readonly outcome: string;
  readonly reason?: string | null;
  readonly statedReason?: string | null;
  readonly operator?: string;
  readonly operatorId?: string;
  /** The system user of a command, in place of a signed-in operator. */
  readonly breakGlass?: boolean;
  readonly host?: string;
  readonly sudoUser?: string;
  readonly as?: string;
  readonly userId?: string | null;
  readonly clientId?: string | null;
  readonly subject?: string | null;
  readonly address?: string;
  /** Of a name that does not exist, in hexadecimal. */
  readonly nameHash?: string;
  readonly before?: Readonly<Record<string, unknown>>;
  readonly after?: Readonly<Record<string, unknown>>;
  /** Values of a member. */
  readonly personal?: {
    readonly before?: Readonly<Record<string, unknown>>;
    readonly after?: Readonly<Record<string, unknown>>;
  };
  readonly transactionId: string;
  readonly times: number;
}

/** Amounts are decimal text; null is no bound. */
export interface Thresholds {
  readonly transferType: string;
  readonly currency: string;
  readonly reviewAbove: string | null;
  readonly secondApprovalAbove: string | null;
}

export interface LimitRule {
  readonly limitKey: number;
  readonly subject: string;
  readonly period: string;
  readonly transferType: string | null;
  readonly sourceType: string | null;
  readonly currency: string;
  readonly maxPerTransfer: string | null;
  readonly maxAmount: string | null;
  readonly maxCount: number | null;
  readonly reviewAbove: string | null;
}

export interface TransferRules {
  readonly thresholds: readonly Thresholds[];
  readonly limits: readonly LimitRule[];
}

export interface PreviewFigure {
  readonly currency: string;
  readonly present: string;
  readonly proposed: string;
  readonly transfers: number;
  readonly amount: string;
}

export interface DifferingOrder {
  readonly id: string;
  readonly transferType: string;
  readonly amount: string;
  readonly currencyCode: string;
  readonly createdAt: string;
  readonly present: string;
  readonly proposed: string;
}

export interface RulesPreview {
  readonly since: string;
  readonly until: string;
  readonly isCut: boolean;
  readonly mostRead: number;
  readonly leftOut: number;
  readonly figures: readonly PreviewFigure[];
  readonly differing: number;
  /** Missing for roles that may not read transfers. */
  readonly newest?: readonly DifferingOrder[];
}

export interface Decided {
  readonly outcome: 'DONE' | 'WAITS' | 'PROPOSED';
  /** With WAITS. */
  readonly waitsFor?: 'SECOND_APPROVAL' | 'PROCESSING_TIME' | 'CORE';
  readonly status?: string;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Where the next page begins. */
  readonly next: string | undefined;
}

/** The service refused a request. */
class OperationError extends Error {
  override readonly name = 'OperationError';
  readonly code: string;

  constructor(code: string, detail: string) {
    super(detail);
    this.code = code;
  }
}

type Query = Readonly<Record<string, string | undefined>>;
const base = '/operations/v1';

export async function read<Document>(path: string, query: Query = {}): Promise<Document> {
  return (await (await send('GET', path, { query })).json()) as Document;
}

export async function readPage<Item>(path: string, query: Query = {}): Promise<Page<Item>> {
  const response = await send('GET', path, { query });
  const [, target = ''] = /<([^>]*)>[^,]*rel="?next"?/.exec(response.headers.get('link') ?? '') ?? [];
  const [, parameters = ''] = target.split('?');
  return {
    items: (await response.json()) as Item[],
    next: new URLSearchParams(parameters).get('after') ?? undefined,
  };
}

export async function act<Document>(path: string, body?: object, method = 'POST'): Promise<Document> {
  return (await (await send(method, path, { body })).json()) as Document;
}

/** Throws SignedOutError and OperationError. */
async function send(
  method: string,
  path: string,
  { query = {}, body }: { readonly query?: Query; readonly body?: object | undefined },
): Promise<Response> {
  const given = Object.entries(query).filter((one): one is [string, string] => Boolean(one[1]));
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  const init: RequestInit = { method, headers: { accept: 'application/json' }, redirect: 'error' };
  if (!isAttended()) init.headers = { ...init.headers, 'sharedraft-unattended': '1' };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { ...init.headers, 'content-type': 'application/json' };
  }
  const response = await fetch(`${base}${path}${search}`, init);
  if (response.ok) return response;
  const problem = (await response.json().catch(() => ({}))) as {
    code?: string;
    detail?: string;
    title?: string;
    errors?: readonly { readonly pointer?: string; readonly detail: string }[];
  };
  const { code = `http_${response.status}`, detail = problem.title ?? 'The service refused the request.' } =
    problem;
  // The cookie is missing or has ended. A decision that needs a recent sign-in has a code of its own.
  if (response.status === 401) throw new SignedOutError(code);
  // The first part of the request that is wrong, if the sentence does not say it.
  const [wrong] = problem.errors ?? [];
  const part =
    wrong && wrong.detail !== detail ? ` ${wrong.pointer?.replace('/', '') ?? ''}: ${wrong.detail}` : '';
  throw new OperationError(code, `${detail}${part}`);
}

/** A path with ids in it. */
export function pathOf(parts: TemplateStringsArray, ...ids: readonly string[]): string {
  return String.raw({ raw: parts }, ...ids.map(encodeURIComponent));
}

export function sentenceOf(error: unknown): string {
  if (error instanceof OperationError) return error.message;
  if (error instanceof TypeError) return 'The service cannot be reached. Check the connection and try again.';
  return 'This did not work. Try again in a moment.';
}
