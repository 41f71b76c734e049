import { ApiError } from './errors.ts';
import { writeJson } from './json.ts';
import { nextOf, Pages } from './pages.ts';
import type { Event, Operations, TransferOrder } from './schema.ts';
import { operations } from './tables.ts';
import { type Auth, TokenSource } from './tokens.ts';
import { type CallOptions, type Reply, sleep, Transport, type TransportOptions } from './transport.ts';

export interface SharedraftOptions extends TransportOptions {
  /** A way to tokens (`clientCredentials`, `password`, …), or a function that returns a token that you got elsewhere. */
  readonly auth?: Auth | (() => string | Promise<string>) | undefined;
}

type Name = keyof typeof operations;
type Of<Operation extends Name, Part extends string> = Operations[Operation] extends {
  readonly [part in Part]: infer Value;
}
  ? Value
  : never;
type Query<Operation extends Name> = Of<Operation, 'query'>;
type Body<Operation extends Name> = Of<Operation, 'body'>;
type Result<Operation extends Name> = Of<Operation, 'result'>;
type Item<Operation extends Name> = Result<Operation> extends readonly (infer One)[] ? One : never;

interface Input {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: object;
  /** The operations of tokens and of the service's own state take none. */
  readonly isPublic?: true;
}

/**
 * Writes that are safe to send again: the same order, change or delivery has the same effect once. The others create
 * something; they are sent again only if the service has said that nothing was written.
 */
const repeatableWrites: ReadonlySet<Name> = new Set<Name>([
  'initiateTransfer',
  'dryRunTransfer',
  'cancelTransfer',
  'narrowConsent',
  'reportOutcome',
  'coreHeartbeat',
  'updateMemberContact',
  'updateAlertPreferences',
  'markAlert',
  'updateWebhook',
  'deleteWebhook',
  'replayWebhook',
  'acknowledgeActivationCode',
  'acknowledgeEmailCode',
  'revokeToken',
  'introspectToken',
  'pushAuthorizationRequest',
]);

/** Sends operations with the caller's token. */
class Caller {
  readonly #transport: Transport;
  readonly #tokens: TokenSource | undefined;
  readonly #give: (() => string | Promise<string>) | undefined;

  constructor({ auth, ...options }: SharedraftOptions) {
    this.#transport = new Transport(options);
    if (typeof auth === 'function') this.#give = auth;
    else if (auth !== undefined) this.#tokens = new TokenSource(this.#transport, auth);
  }

  async call<Operation extends Name>(
    operation: Operation,
    input: Input = {},
    options: CallOptions = {},
  ): Promise<Result<Operation>> {
    return (await this.send(operation, input, options)).body as Result<Operation>;
  }

  pages<Operation extends Name>(
    operation: Operation,
    { query = {}, ...input }: Input,
    options: CallOptions = {},
  ): Pages<Item<Operation>> {
    const first = query.after as string | undefined;
    return new Pages(async (after) => {
      const { body, headers } = await this.send(operation, { ...input, query: { ...query, after } }, options);
      return { items: body as Item<Operation>[], next: nextOf(headers.get('link')) };
    }, first);
  }

  async send(
    operation: Name,
    { params = {}, query, body, isPublic }: Input,
    options: CallOptions,
  ): Promise<Reply> {
    const [method, template] = operations[operation];
    const request = {
      method,
      path: template.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(params[name] ?? '')),
      query: query && queryOf(query),
      body: body && writeJson(body),
      isRepeatable: method === 'GET' || repeatableWrites.has(operation),
      options,
    };
    if (isPublic) return this.#transport.send(request);
    const accessToken = await this.#token();
    try {
      return await this.#transport.send({ ...request, accessToken });
    } catch (error) {
      // A token may end before its time: one more try with a new one. Nothing was done for the refused one.
      if (!(error instanceof ApiError) || error.code !== 'invalid_token') throw error;
      if (this.#tokens?.renew(accessToken) !== true) throw error;
      return this.#transport.send({ ...request, accessToken: await this.#tokens.token() });
    }
  }

  async #token(): Promise<string> {
    const token = await (this.#give?.() ?? this.#tokens?.token());
    if (token === undefined) throw new TypeError('This operation needs a token: set `auth`.');
    return token;
  }
}

function queryOf(query: Readonly<Record<string, unknown>>): URLSearchParams {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
}

/**
 * A client of the member service. Amounts are strings of digits (`'105.25'`). Errors are classes by their kind, with the
 * problem's `code`. A failed attempt is repeated if that is safe; an order always keeps its id and its bytes.
 */
export class Sharedraft {
  readonly accounts: Accounts;
  readonly transfers: Transfers;
  readonly members: Members;
  readonly core: Core;
  readonly events: Events;
  readonly alerts: Alerts;
  readonly webhooks: Webhooks;
  readonly aggregators: Aggregators;
  readonly tokens: Tokens;
  readonly service: Service;

  constructor(options: SharedraftOptions) {
    const caller = new Caller(options);
    this.accounts = new Accounts(caller);
    this.transfers = new Transfers(caller);
    this.members = new Members(caller);
    this.core = new Core(caller);
    this.events = new Events(caller);
    this.alerts = new Alerts(caller);
    this.webhooks = new Webhooks(caller);
    this.aggregators = new Aggregators(caller);
    this.tokens = new Tokens(caller);
    this.service = new Service(caller);
  }
}

abstract class Resource {
  protected readonly caller: Caller;

  constructor(caller: Caller) {
    this.caller = caller;
  }
}

class Accounts extends Resource {
  get(accountId: string, options?: CallOptions) {
    return this.caller.call('getAccount', { params: { accountId } }, options);
  }

  /** The accounts of the member; with a client's token those of the membership in `customerId`. */
  list(query: Query<'listAccounts'> = {}, options?: CallOptions) {
    return this.caller.call('listAccounts', { query }, options);
  }

  transactions(accountId: string, query: Query<'listTransactions'> = {}, options?: CallOptions) {
    return this.caller.pages('listTransactions', { params: { accountId }, query }, options);
  }

  balances(accountId: string, query: Query<'getBalances'>, options?: CallOptions) {
    return this.caller.call('getBalances', { params: { accountId }, query }, options);
  }
}

class Transfers extends Resource {
  /**
   * Moves money. The order's `id` is its idempotency key forever: choose it, and store it before the call, to be able to
   * repeat the order after a crash. Without one, an id is made once for all attempts of this call.
   *
   * Throws TransferDeclinedError for an order that was declined, and OutcomeUnknownError if no attempt showed the outcome.
   */
  create(order: TransferOrder, options?: CallOptions) {
    const body = { ...order, id: order.id ?? crypto.randomUUID() };
    return this.caller.call('initiateTransfer', { body }, options);
  }

  /** The outcome that the order would have. Nothing is written. */
  dryRun(order: TransferOrder, options?: CallOptions) {
    return this.caller.call('dryRunTransfer', { body: order }, options);
  }

  options(query: Query<'getTransferOptions'>, options?: CallOptions) {
    return this.caller.call('getTransferOptions', { query }, options);
  }

  get(id: string, options?: CallOptions) {
    return this.caller.call('getTransfer', { params: { id } }, options);
  }

  list(query: Query<'listTransfers'> = {}, options?: CallOptions) {
    return this.caller.pages('listTransfers', { query }, options);
  }

  cancel(id: string, options?: CallOptions) {
    return this.caller.call('cancelTransfer', { params: { id } }, options);
  }
}

class Members extends Resource {
  register(body: Body<'registerMember'>, options?: CallOptions) {
    return this.caller.call('registerMember', { body }, options);
  }

  activate(body: Body<'activateMember'>, options?: CallOptions) {
    return this.caller.call('activateMember', { body }, options);
  }

  changePassword(body: Body<'changePassword'>, options?: CallOptions) {
    return this.caller.call('changePassword', { body }, options);
  }

  confirmEmail(body: Body<'confirmEmail'>, options?: CallOptions) {
    return this.caller.call('confirmEmail', { body }, options);
  }

  profile(customerId: string, query: Query<'getMemberProfile'> = {}, options?: CallOptions) {
    return this.caller.call('getMemberProfile', { params: { customerId }, query }, options);
  }

  updateContact(customerId: string, body: Body<'updateMemberContact'>, options?: CallOptions) {
    return this.caller.call('updateMemberContact', { params: { customerId }, body }, options);
  }

  accounts(customerId: string, options?: CallOptions) {
    return this.caller.call('getMemberAccounts', { params: { customerId } }, options);
  }
}

/** The connector of a core that keeps the institution's books. */
class Core extends Resource {
  /** Leases the next instructions. `wait` seconds for the first one. */
  instructions(query: Query<'listInstructions'> = {}, options?: CallOptions) {
    return this.caller.call('listInstructions', { query }, options);
  }

  /** The same outcome can be reported again. */
  reportOutcome(id: string, body: Body<'reportOutcome'>, options?: CallOptions) {
    return this.caller.call('reportOutcome', { params: { id }, body }, options);
  }

  heartbeat(options?: CallOptions) {
    return this.caller.call('coreHeartbeat', {}, options);
  }

  connection(options?: CallOptions) {
    return this.caller.call('getCoreConnection', {}, options);
  }

  /** The differences between the core's books and the service's. */
  breaks(query: Query<'listBreaks'> = {}, options?: CallOptions) {
    return this.caller.call('listBreaks', { query }, options);
  }

  break(breakId: string, options?: CallOptions) {
    return this.caller.call('getBreak', { params: { breakId } }, options);
  }

  updateBreak(breakId: string, body: Body<'updateBreak'>, options?: CallOptions) {
    return this.caller.call('updateBreak', { params: { breakId }, body }, options);
  }
}

/** Events of the feed, with the position after them. */
export interface EventBatch {
  readonly events: readonly Event[];
  /** Store it once the events are dealt with, and pass it as `after` to go on from there. */
  readonly position: string;
}

export interface FollowOptions extends CallOptions {
  /** A stored position. Default: the beginning of the feed. */
  readonly after?: string | undefined;
  /** Events in a batch. Default: 200. */
  readonly limit?: number | undefined;
  /** Pause before the feed is asked again if it had nothing new. Default: one second. */
  readonly pollMillis?: number | undefined;
}

class Events extends Resource {
  /** The events after a position, or from the first one. Unlike `follow`, it ends where the feed ends. */
  async read(query: Query<'readEvents'> = {}, options: CallOptions = {}): Promise<EventBatch> {
    const { body, headers } = await this.caller.send('readEvents', { query }, options);
    return { events: body as Event[], position: nextOf(headers.get('link')) ?? query.after ?? '' };
  }

  /**
   * Every event, in order, each exactly once from a stored position on, and then each new one. It never ends: leave the loop,
   * or abort the signal.
   */
  async *follow({
    after,
    limit = 200,
    pollMillis = 1_000,
    ...options
  }: FollowOptions = {}): AsyncGenerator<EventBatch, never, undefined> {
    for (let position = after; ; ) {
      const batch = await this.read({ limit, after: position }, options);
      if (batch.events.length > 0) yield batch;
      else await sleep(pollMillis, options.signal);
      position = batch.position;
    }
  }

  activationCode(eventId: string, options?: CallOptions) {
    return this.caller.call('getActivationCode', { params: { eventId } }, options);
  }

  acknowledgeActivationCode(eventId: string, options?: CallOptions) {
    return this.caller.call('acknowledgeActivationCode', { params: { eventId } }, options);
  }

  emailCode(eventId: string, options?: CallOptions) {
    return this.caller.call('getEmailCode', { params: { eventId } }, options);
  }

  acknowledgeEmailCode(eventId: string, options?: CallOptions) {
    return this.caller.call('acknowledgeEmailCode', { params: { eventId } }, options);
  }
}

/** The alerts of the member of the token, and reports about their e-mail. */
class Alerts extends Resource {
  /** The inbox, the newest first. */
  list(query: Query<'listAlerts'> = {}, options?: CallOptions) {
    return this.caller.pages('listAlerts', { query }, options);
  }

  mark(alertId: string, body: Body<'markAlert'>, options?: CallOptions) {
    return this.caller.call('markAlert', { params: { alertId }, body }, options);
  }

  preferences(options?: CallOptions) {
    return this.caller.call('getAlertPreferences', {}, options);
  }

  /** With a client token: the address gets no further e-mail. */
  reportBounce(body: Body<'reportBounce'>, options?: CallOptions) {
    return this.caller.call('reportBounce', { body }, options);
  }

  /** Replaces all preferences. */
  replacePreferences(body: Body<'updateAlertPreferences'>, options?: CallOptions) {
    return this.caller.call('updateAlertPreferences', { body }, options);
  }
}

/** The addresses to which the service sends events. `webhooks.unwrap` verifies what it sends. */
class Webhooks extends Resource {
  create(body: Body<'createWebhook'>, options?: CallOptions) {
    return this.caller.call('createWebhook', { body }, options);
  }

  list(options?: CallOptions) {
    return this.caller.call('listWebhooks', {}, options);
  }

  get(endpointId: string, options?: CallOptions) {
    return this.caller.call('getWebhook', { params: { endpointId } }, options);
  }

  update(endpointId: string, body: Body<'updateWebhook'>, options?: CallOptions) {
    return this.caller.call('updateWebhook', { params: { endpointId }, body }, options);
  }

  delete(endpointId: string, options?: CallOptions) {
    return this.caller.call('deleteWebhook', { params: { endpointId } }, options);
  }

  rotate(endpointId: string, body: Body<'rotateWebhookSecret'> = {}, options?: CallOptions) {
    return this.caller.call('rotateWebhookSecret', { params: { endpointId }, body }, options);
  }

  ping(endpointId: string, options?: CallOptions) {
    return this.caller.call('pingWebhook', { params: { endpointId } }, options);
  }

  replay(endpointId: string, body: Body<'replayWebhook'>, options?: CallOptions) {
    return this.caller.call('replayWebhook', { params: { endpointId }, body }, options);
  }

  attempts(endpointId: string, query: Query<'listWebhookAttempts'> = {}, options?: CallOptions) {
    return this.caller.pages('listWebhookAttempts', { params: { endpointId }, query }, options);
  }

  deliveries(endpointId: string, query: Query<'listWebhookDeliveries'> = {}, options?: CallOptions) {
    return this.caller.pages('listWebhookDeliveries', { params: { endpointId }, query }, options);
  }
}

/** The token operations themselves, for callers that manage tokens on their own. */
/** Reading by consent, aligned with FDX 6. Errors have the same codes as elsewhere. */
class Aggregators extends Resource {
  customer(options?: CallOptions) {
    return this.caller.call('getFdxCustomer', {}, options);
  }

  async accounts(query: Query<'listFdxAccounts'> = {}, options?: CallOptions) {
    return (await this.caller.call('listFdxAccounts', { query }, options)).accounts;
  }

  account(accountId: string, options?: CallOptions) {
    return this.caller.call('getFdxAccount', { params: { accountId } }, options);
  }

  transactions(accountId: string, query: Query<'listFdxTransactions'> = {}, options?: CallOptions) {
    return new Pages(async (offset) => {
      const input = { params: { accountId }, query: { ...query, offset } };
      const { transactions, page } = await this.caller.call('listFdxTransactions', input, options);
      return { items: transactions, next: page?.nextOffset };
    }, query.offset);
  }
}

class Tokens extends Resource {
  issue(body: Body<'issueToken'>, options?: CallOptions) {
    return this.caller.call('issueToken', { body, isPublic: true }, options);
  }

  revoke(body: Body<'revokeToken'>, options?: CallOptions) {
    return this.caller.call('revokeToken', { body, isPublic: true }, options);
  }

  introspect(body: Body<'introspectToken'>, options?: CallOptions) {
    return this.caller.call('introspectToken', { body, isPublic: true }, options);
  }

  push(body: Body<'pushAuthorizationRequest'>, options?: CallOptions) {
    return this.caller.call('pushAuthorizationRequest', { body, isPublic: true }, options);
  }

  userInfo(options?: CallOptions) {
    return this.caller.call('getUserInfo', {}, options);
  }

  consents(options?: CallOptions) {
    return this.caller.call('listConsents', {}, options);
  }

  narrowConsent(consentId: string, body: Body<'narrowConsent'>, options?: CallOptions) {
    return this.caller.call('narrowConsent', { params: { consentId }, body }, options);
  }

  withdrawConsent(consentId: string, options?: CallOptions) {
    return this.caller.call('withdrawConsent', { params: { consentId } }, options);
  }

  keys(options?: CallOptions) {
    return this.caller.call('jwks', { isPublic: true }, options);
  }

  metadata(options?: CallOptions) {
    return this.caller.call('authorizationServer', { isPublic: true }, options);
  }
}

class Service extends Resource {
  live(options?: CallOptions) {
    return this.caller.call('livez', { isPublic: true }, options);
  }

  ready(options?: CallOptions) {
    return this.caller.call('readyz', { isPublic: true }, options);
  }

  version(options?: CallOptions) {
    return this.caller.call('version', { isPublic: true }, options);
  }
}
