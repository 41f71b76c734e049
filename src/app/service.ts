import { setTimeout as sleep } from 'node:timers/promises';
import { getAccount, getBalances, listAccounts, listCustomerAccounts } from '../accounts/index.ts';
import { startAlertWorker } from '../alerts/index.ts';
import {
  acknowledgeCode,
  activateMember,
  activateOnPage,
  activationCode,
  addPasskey,
  answerConsent,
  atHost,
  authorizationServerMetadata,
  authorize,
  beginAuthenticator,
  changePassword,
  confirmAuthenticator,
  confirmEmail,
  type DepositOpening,
  emailCode,
  endAccessOnPage,
  forgottenPassword,
  grantTypes,
  handOverCode,
  type InstitutionHost,
  InstitutionHosts,
  identify,
  introspectToken,
  issueActivation,
  issueEmailCode,
  issueToken,
  listConsents,
  logOut,
  logOutEverywhere,
  type MutualTls,
  narrowConsent,
  narrowConsentOnPage,
  OAuthError,
  openSecurityPage,
  pushRequest,
  type RawTokenRequest,
  refusalFor,
  removeAuthenticator,
  removePasskey,
  renewRecoveryCodes,
  revokeToken,
  signIn,
  signInWithCode,
  signInWithPasskey,
  withdrawConsent,
} from '../auth/index.ts';
import {
  askInstructions,
  changeBreak,
  compareBalances,
  findBreak,
  listBreaks,
  readBalances,
  readRecords,
  readTransactions,
  takeRecordLines,
  takeTransactions,
} from '../core-connection/index.ts';
import { payDueOpening } from '../core-system/index.ts';
import type { AuditEntry, AuditTrail } from '../events/index.ts';
import { getEffectiveBalances, listTransactions, readEvents } from '../feed/index.ts';
import { type CommitDelay, createServer, presentEvent, type Services } from '../http/index.ts';
import {
  type Actor,
  type ClientActor,
  findInstitution,
  findLogo,
  listInstitutions,
} from '../institutions/index.ts';
import { startLogoutSender } from '../logouts/index.ts';
import { getProfile, registerMember, updateContact } from '../members/index.ts';
import type { LogPosition } from '../memory/index.ts';
import { type Family, listenForScrapes, type MetricsListener } from '../metrics/index.ts';
import { LiveConsoles, type OperatorDeps } from '../operators/index.ts';
import { Screener } from '../screening/index.ts';
import { Problem } from '../shared/problem.ts';
import { seams } from '../shared/seams.ts';
import { within } from '../shared/within.ts';
import type { Standbys } from '../standbys/index.ts';
import { type Clock, type InstitutionId, waitsForStandbys } from '../storage/index.ts';
import {
  cancelTransfer,
  decideInstruction,
  explainTransfer,
  getTransfer,
  initiateTransfer,
  listTransferOptions,
  listTransfers,
  type TransferDesk,
} from '../transfers/index.ts';
import { startWebhookSender } from '../webhooks/index.ts';
import { alertServicesOf } from './alert-services.ts';
import { startMaintenance } from './background/maintenance.ts';
import { startSweeping } from './background/sweeper.ts';
import { otherCellsOf } from './cells/other-cells.ts';
import { publishAtStart, startPublishing } from './cells/publishing.ts';
import type { Config, Secrets } from './config.ts';
import {
  type AppContext,
  type CoreParts,
  coreConnection,
  openAppContext,
  openDeliveries,
  openDesk,
} from './context.ts';
import { mailServicesOf, unsubscribeServicesOf } from './mail-services.ts';
import { type Log, openServiceLog, type ServiceLog } from './service-log.ts';
import { measureService, type ServiceMetrics, withDatabaseFigures } from './service-metrics.ts';
import { measureStandbys, openStandbys } from './standby-reads.ts';
import { refuseOtherSecretKey, refusePublicDemo, ServiceStartError } from './start-checks.ts';
import { webhookServicesOf } from './webhook-services.ts';
import { workFiguresOf } from './work-figures.ts';

export interface Service {
  readonly context: AppContext;
  /** The metrics of this process; undefined without METRICS_PORT. */
  readonly metrics?: ServiceMetrics | undefined;
  /** For example http://127.0.0.1:9464; undefined if another process listens for scrapes. */
  readonly metricsAddress?: string | undefined;
  /** For example http://127.0.0.1:8080 */
  readonly address: string;
  /**
   * Reports `not ready` for the configured delay, stops accepting, finishes requests in flight and closes the database.
   * Every step is bounded, even if the database is silent. Idempotent.
   */
  close(): Promise<void>;
}

export interface ServiceOptions {
  readonly log: Log;
  /** For events that explain the service to its developer; undefined above the level debug. */
  readonly debug?: Log | undefined;
  /** Receives the log of requests; default: standard output. */
  readonly logStream?: ServiceLog['stream'];
  readonly clock?: Clock;
  readonly beforeListening?: (context: AppContext) => Promise<void>;
  /** `borrow` if another process of this service owns the embedded database. */
  readonly embedded?: 'own' | 'borrow';
  /** The metrics of all processes on this port; default: those of this one. */
  readonly readTogether?: () => Promise<readonly Family[] | undefined>;
}

/** A sweep ends within this time if the database responds. */
const leastSweepPatienceMillis = 2_000;

/** The composition root: the only place that builds everything and passes it on. */
export async function startService(
  config: Config,
  secrets: Secrets,
  options: ServiceOptions,
): Promise<Service> {
  const context = await openAppContext(
    config,
    secrets,
    options.embedded ?? 'own',
    options.log,
    options.clock,
  );
  const core = coreConnection(context);
  const live = new LiveConsoles({
    ...context,
    onError: (error, institutionId) => options.log('live_failed', { institutionId, error }),
  });
  const screener = new Screener({ ...context.webhooks, log: options.log });
  const openedDesk = openDesk(context, { ...options, core, askScreening: screener.ask });
  const { desk, close: closeDesk } = openedDesk;
  const standbys = openStandbys(config, context, options.log);
  // From the start: the first request finds its counters.
  const metrics = config.metricsPort === undefined ? undefined : measureService(context, openedDesk);
  const work = async () =>
    metrics === undefined ? null : workFiguresOf((await options.readTogether?.()) ?? metrics.read());
  if (metrics && standbys) measureStandbys(metrics.registry, standbys);
  try {
    await refuseOtherSecretKey(context);
    await options.beforeListening?.(context);
    await refusePublicDemo(config, context);
    await publishAtStart(context, options.log);
    let stopping = false;
    const cells = config.forwardRequests ? await otherCellsOf(context) : undefined;
    const server = await createServer(
      servicesWithHosts(context, {
        desk,
        core,
        live,
        screener,
        standbys,
        work,
        isStopping: () => stopping,
        linePatienceMillis: config.requestTimeoutSeconds * 1000,
        mutualTls: { isOffered: config.clientCertProxies.length > 0, url: config.mtlsUrl },
      }),
      {
        ...config,
        cells,
        nowMillis: () => context.clock().getTime(),
        logStream: options.logStream ?? openServiceLog(config.logLevel).stream,
      },
    );
    // A worker's metrics are those that the first process asks for.
    const scrapes =
      metrics && options.embedded !== 'borrow' ? await listenForMetrics(config, context, metrics) : undefined;
    const address = await server.listen({ host: config.host, port: config.port }).catch((error) => {
      throw cannotListen({ ...config, setting: 'PORT' }, error);
    });
    context.commits.onChange = (isDelayed) => {
      if (!isDelayed) options.log('commits_no_longer_wait');
      else
        commitDelay(context).then(
          (reason) => options.log(reason ?? 'commits_wait'),
          () => {},
        );
    };
    const stopMaintenance = startMaintenance(context, options.log);
    const publishing = startPublishing(context, options.log);
    const sweeper = startSweeping(context, desk, options.log);
    const deliveries = openDeliveries(context, options.log);
    const sender = startWebhookSender({
      ...context.webhooks,
      database: deliveries,
      render: presentEvent,
      mail: context.mail.sendOf,
      onError: (error, endpointId) => options.log('webhooks_failed', { endpointId, error }),
    });
    const alerts = startAlertWorker({
      ...context.alerts,
      onError: (error, institutionId) => options.log('alerts_failed', { institutionId, error }),
    });

    const logouts = startLogoutSender({
      ...context.webhooks,
      database: deliveries,
      keys: context.auth.keys,
      issuer: context.auth.issuer,
      onError: (error, institutionId) => options.log('logouts_failed', { institutionId, error }),
    });

    let closing: Promise<void> | undefined;
    const close = async () => {
      stopping = true;
      // A proxy in front reads `/readyz` and routes its requests elsewhere before the port closes.
      await sleep(config.shutdownDelaySeconds * 1000);
      stopMaintenance();
      // Requests that wait for the core respond with what they have.
      await core.watch.stop();
      live.close();
      await scrapes?.close();
      metrics?.stop();
      const swept = Promise.all([
        ...[sweeper.stop(), sender.stop(), alerts.stop(), logouts.stop()],
        publishing.stop(),
      ]);
      const graceMillis = config.shutdownGraceSeconds * 1000;
      const patience = setTimeout(() => server.server.closeAllConnections(), graceMillis);
      await server.close();
      clearTimeout(patience);
      await within(Math.max(graceMillis, leastSweepPatienceMillis), swept);
      await deliveries.close();
      await closeDesk();
      screener.close();
      await standbys?.close();
      await context.close();
    };
    return {
      context,
      metrics,
      metricsAddress: scrapes?.address,
      address,
      close: () => {
        closing ??= close();
        return closing;
      },
    };
  } catch (error) {
    metrics?.stop();
    await closeDesk();
    screener.close();
    await standbys?.close();
    await context.close();
    throw error;
  }
}

interface ServiceParts {
  readonly desk: TransferDesk;
  readonly core: CoreParts;
  readonly live: LiveConsoles;
  readonly screener: Screener;
  readonly standbys: Standbys | undefined;
  readonly work: OperatorDeps['work'];
  readonly isStopping: () => boolean;
  readonly linePatienceMillis: number;
  readonly mutualTls: MutualTls;
}

/** A row of settings, as measured. */
const bytesOfInstitution = 1_000;

const codes = { activation: activationCode, email: emailCode };

/** Host names whose services are kept in memory. */
const mostHosts = 10_000;

/** The services of all institutions, and of each at its own host name. */
function servicesWithHosts(context: AppContext, parts: ServiceParts): Services {
  const { auth, database } = context;
  const hosts = new InstitutionHosts(database, auth.memory);
  const made = new Map<string, { readonly host: InstitutionHost; readonly services: Services }>();
  const at = async (name: string): Promise<Services | undefined> => {
    const host = await hosts.find(name);
    if (host === undefined) return undefined;
    const known = made.get(name);
    if (known?.host.institutionId === host.institutionId) return known.services;
    if (made.size >= mostHosts) made.clear();
    const services = { ...servicesOf({ ...context, auth: atHost(auth, host) }, parts), at };
    made.set(name, { host, services });
    return services;
  };
  return { ...servicesOf(context, parts), at };
}

function servicesOf(
  context: AppContext,
  { desk, core, live, screener, standbys, work, isStopping, linePatienceMillis, mutualTls }: ServiceParts,
): Omit<Services, 'at'> {
  const { auth, clock, businessTime, database, directoryState, postingKeys } = context;
  const nowAt = ({ institutionId }: Actor) => businessTime(institutionId, clock());
  const institution = async (institutionId: InstitutionId) => {
    const key = `institution ${institutionId}`;
    const found = await auth.memory.read({ key, institutionId, bytes: bytesOfInstitution }, () =>
      database.directory((db) => findInstitution(db, institutionId)),
    );
    if (found === undefined) throw new Error('a caller of an institution that does not exist');
    return found;
  };
  const historyFor = (seen: LogPosition | null) => standbys?.reads(seen) ?? database;
  const registration = {
    database,
    clock,
    businessTime,
    postingKeys,
    issueActivation: issueActivation.bind(null, auth.vault),
    issueEmailCode: issueEmailCode.bind(null, auth.vault),
  };
  const activate = async (actor: ClientActor, activation: Parameters<typeof activateMember>[2]) => {
    const postingKey = await postingKeys.next();
    const depositOpening: DepositOpening = (tx, personKey, at) =>
      payDueOpening(tx, personKey, { postingKey, at });
    const { origin } = activation;
    const work = activateMember({ ...auth, depositOpening }, actor, activation);
    return noteRefusal(auth.audit, actor, { action: 'user.activated', origin, work });
  };
  const deliveries = { database, clock, businessTime, inactiveTokens: desk.deps.inactiveTokens, isStopping };
  return {
    issueToken: (request) => noteSignIn(request, issueToken(auth, request)),
    pushRequest: (request) => pushRequest(auth, request),
    signIn: {
      authorize: (parameters, browser) => authorize(auth, parameters, browser),
      signIn: (sent, browser) => signIn(auth, sent, browser),
      signInWithPasskey: (sent, browser) => signInWithPasskey(auth, sent, browser),
      forgottenPassword: (sent, browser) => forgottenPassword(auth, sent, browser),
      activate: (sent, browser) => activateOnPage(auth, activate, sent, browser),
      openSecurityPage: (parameters, browser) => openSecurityPage(auth, parameters, browser),
      addPasskey: (sent, browser) => addPasskey(auth, sent, browser),
      removePasskey: (sent, browser) => removePasskey(auth, sent, browser),
      signInWithCode: (sent, browser) => signInWithCode(auth, sent, browser),
      beginAuthenticator: (sent, browser) => beginAuthenticator(auth, sent, browser),
      confirmAuthenticator: (sent, browser) => confirmAuthenticator(auth, sent, browser),
      removeAuthenticator: (sent, browser) => removeAuthenticator(auth, sent, browser),
      renewRecoveryCodes: (sent, browser) => renewRecoveryCodes(auth, sent, browser),
      endAccess: (sent, browser) => endAccessOnPage(auth, sent, browser),
      narrowConsent: (sent, browser) => narrowConsentOnPage(auth, sent, browser),
      answerConsent: (sent, browser) => answerConsent(auth, sent, browser),
      logOut: (parameters, browser) => logOut(auth, parameters, browser),
      logOutEverywhere: (institutionIds, browser) => logOutEverywhere(auth, institutionIds, browser),
    },
    operators: {
      database,
      clock,
      businessTime,
      auth,
      desk,
      webhooks: context.webhooks,
      screener,
      auditRetention: context.auditRetention,
      live,
      work,
      coreConnection: (institutionId) => core.states.connection(institutionId),
    },
    getUserInfo: (actor) =>
      getProfile(database, actor, { id: actor.userId, idType: 'USER_ID', now: nowAt(actor) }),
    listConsents: (actor) => listConsents(auth, actor),
    narrowConsent: (actor, change) => narrowConsent(auth, actor, change),
    withdrawConsent: (actor, consentId, origin) => withdrawConsent(auth, actor, { consentId, origin }),
    revokeToken: (request) => revokeToken(auth, request),
    introspectToken: (request) => introspectToken(auth, request),
    // The host of an institution has no alias: the proxy may ask for certificates there.
    authorizationServer: authorizationServerMetadata(
      auth.issuer,
      auth.host === undefined ? mutualTls : { isOffered: mutualTls.isOffered },
    ),
    publishedKeys: async () => {
      const own = await auth.keys.published(auth.host?.institutionId);
      // At its own host an institution trusts its own cell only.
      return auth.host === undefined ? directoryState.withKeysOfOthers(own, clock()) : own;
    },
    identify: (token, admit, presented) => identify(auth, token, admit, presented),
    proofNonce: () => auth.proofNonces.current(),
    registerMember: async (actor, member, origin) => {
      const registering = registerMember(registration, actor, member, origin);
      try {
        return await noteRefusal(auth.audit, actor, { action: 'user.registered', origin, work: registering });
      } catch (error) {
        throw error instanceof Problem ? await refusalFor(auth, actor, error) : error;
      }
    },
    activateMember: async (actor, activation, origin) => {
      const { userId } = await activate(actor, { ...activation, origin });
      return getProfile(database, actor, { id: userId, idType: 'USER_ID', now: nowAt(actor) });
    },
    changePassword: async (actor, change, origin) => {
      const changing = changePassword(auth, actor, { ...change, origin });
      await noteRefusal(auth.audit, actor, { action: 'user.password_changed', origin, work: changing });
      return getProfile(database, actor, { id: actor.userId, idType: 'USER_ID', now: nowAt(actor) });
    },
    memory: auth.memory,
    hasStandbys: standbys !== undefined,
    getProfile: (actor, wanted) => getProfile(database, actor, { ...wanted, now: nowAt(actor) }),
    updateContact: (actor, customerId, change, origin) =>
      updateContact(registration, actor, customerId, change, origin),
    confirmEmail: async (actor, emailCode, origin) => {
      const confirming = confirmEmail(auth, actor, { emailCode, origin });
      const { userId } = await noteRefusal(auth.audit, actor, {
        action: 'user.email_confirmed',
        origin,
        work: confirming,
      });
      return getProfile(database, actor, { id: userId, idType: 'USER_ID', now: nowAt(actor) });
    },
    balancesAsOf: async ({ institutionId }, basis) => {
      const { record } = await institution(institutionId);
      return record === 'core' ? core.states.balancesAsOf(institutionId, basis) : null;
    },
    getAccount: (actor, accountId, basis) => getAccount(database, actor, accountId, basis),
    listAccounts: (actor, customerId, basis) => listAccounts(database, actor, customerId, basis),
    listCustomerAccounts: (actor, customerId, basis) =>
      listCustomerAccounts(database, actor, customerId, basis),
    listTransactions: (actor, accountId, { filter, page, basis, seen }) =>
      listTransactions({ database: historyFor(seen), institution, basis }, actor, accountId, filter, page),
    getBalances: (actor, accountId, { asOf, seen }) =>
      getBalances({ database: historyFor(seen), clock: () => nowAt(actor) }, actor, accountId, asOf),
    getEffectiveBalances: (actor, accountId, { effectiveDate, seen }) => {
      const deps = { database: historyFor(seen), institution, now: nowAt(actor) };
      return getEffectiveBalances(deps, actor, accountId, effectiveDate);
    },
    initiateTransfer: (actor, order, origin) => initiateTransfer(desk, actor, { order, origin }),
    explainTransfer: (actor, order) => explainTransfer(desk, actor, order),
    listTransferOptions: (actor, fromAccountId) => listTransferOptions(desk, actor, fromAccountId),
    cancelTransfer: (actor, transferId, origin) => cancelTransfer(desk, actor, { transferId, origin }),
    awaitTransfer: ({ institutionId }, transferId, patience) =>
      core.watch.untilEnded(institutionId, transferId, patience),
    heardFromCore: ({ institutionId, clientId }) => core.states.heard(institutionId, clientId),
    askInstructions: (actor, request) => askInstructions({ desk, clock, watch: core.watch }, actor, request),
    reportOutcome: ({ institutionId, clientId, token }, report) =>
      decideInstruction(desk, institutionId, { ...report, clientId, token }),
    getCoreConnection: ({ institutionId }) => core.states.connection(institutionId),
    getTransfer: (actor, transferId) => getTransfer(database, actor, transferId),
    listTransfers: (actor, filter, { page, seen }) =>
      listTransfers({ database: historyFor(seen), institution }, actor, { filter, page }),
    readEvents: ({ institutionId }, start) => readEvents(database, institutionId, start),
    getCode: (kind, actor, eventId, origin) => handOverCode(auth, codes[kind], { actor, eventId, origin }),
    acknowledgeCode: (kind, actor, eventId, origin) =>
      acknowledgeCode(auth, codes[kind], { actor, eventId, origin }),
    takeCoreTransactions: async function* (actor, { bytes, format, origin }) {
      const own = await institution(actor.institutionId);
      const rules = () => ({ now: nowAt(actor), timeZone: own.timeZone });
      const lines = readTransactions(bytes, format, { rules, patienceMillis: linePatienceMillis });
      const delivery = { institution: own, clientId: actor.clientId, token: actor.token, origin };
      return yield* takeTransactions({ ...deliveries, postingKeys, desk }, delivery, lines);
    },
    takeCoreRecords: async function* (actor, { bytes, format, origin, asOf }) {
      if (asOf !== undefined && asOf > clock()) {
        throw new Problem('invalid_request', 'asOf must not be in the future.');
      }
      const own = await institution(actor.institutionId);
      const chunks = readRecords(bytes, format, { patienceMillis: linePatienceMillis });
      const delivery = { institution: own, clientId: actor.clientId, token: actor.token, origin };
      return yield* takeRecordLines(deliveries, delivery, { chunks, asOf });
    },
    alerts: alertServicesOf(context.alerts),
    mail: mailServicesOf({ database, clock }),
    findLogo: (hash) => database.directory((db) => findLogo(db, hash)),
    unsubscribe: unsubscribeServicesOf({ database, clock, vault: auth.vault, host: auth.host }),
    compareCoreBalances: async function* (actor, { bytes, format, origin, request }) {
      const own = await institution(actor.institutionId);
      const lines = readBalances(bytes, format, { patienceMillis: linePatienceMillis });
      const delivery = { institution: own, clientId: actor.clientId, token: actor.token, origin };
      return yield* compareBalances(deliveries, delivery, request, lines);
    },
    breaks: {
      list: (actor, wanted) =>
        listBreaks({ database, clock: () => nowAt(actor) }, actor.institutionId, wanted),
      get: ({ institutionId }, breakKey) => findBreak(database, institutionId, breakKey),
      change: ({ institutionId, clientId }, { breakKey, change, origin }) =>
        changeBreak({ database, clock, businessTime }, institutionId, {
          breakKey,
          change,
          author: { name: clientId, clientId, origin },
        }),
    },
    webhooks: webhookServicesOf(context.webhooks),
    noteRate: (actor, reason, origin) =>
      noteRefused(auth.audit, actor, { action: 'rate_limit', reason, origin }),
    noteIdConflict: (actor, origin) =>
      noteRefused(auth.audit, actor, {
        action: 'transfer.id_conflict',
        reason: 'transfer_id_reused',
        origin,
      }),
    ready: async () => {
      if (isStopping()) throw new Problem('shutting_down', 'The service is about to stop.');
      await database.directory(listInstitutions);
      return commitDelay(context);
    },
  };
}

/** `read` is by default that of one process, with the figures of the database. Throws ServiceStartError. */
export function listenForMetrics(
  config: Config,
  context: AppContext,
  metrics: ServiceMetrics,
  read = withDatabaseFigures(context, metrics, config.signingKeyDays),
): Promise<MetricsListener> {
  const { metricsHost: host, metricsPort: port = 0 } = config;
  return listenForScrapes({ host, port }, read).catch((error) => {
    throw cannotListen({ host, port, setting: 'METRICS_PORT' }, error);
  });
}

/** The reason why commits wait; null if they do not. */
async function commitDelay({ commits, database }: AppContext): Promise<CommitDelay | null> {
  if (!commits.isDelayed) return null;
  return (await database.directory(waitsForStandbys)) ? 'commits_wait_for_standby' : 'commits_wait';
}

/** Publishes the outcome of a token request. Its reasons are words of the service, never input. */
async function noteSignIn<T>({ parameters }: RawTokenRequest, issuing: Promise<T>): Promise<T> {
  if (!seams.signIn.hasSubscribers) return issuing;
  const { grant_type: asked } = parameters;
  const publish = (outcome: string) =>
    seams.signIn.publish({ grant: grantTypes.find((grant) => grant === asked) ?? 'other', outcome });
  try {
    const issued = await issuing;
    publish('issued');
    return issued;
  } catch (error) {
    if (error instanceof OAuthError) publish(error.facts.reason ?? error.error);
    else publish(error instanceof Problem ? error.code : 'internal_error');
    throw error;
  }
}

/** Audits a refusal of the caller. */
function noteRefused(
  audit: AuditTrail,
  actor: Actor,
  facts: Pick<AuditEntry, 'action' | 'reason' | 'origin'>,
): void {
  const { institutionId, clientId } = actor;
  const userId = actor.kind === 'member' ? actor.userId : undefined;
  audit.note(institutionId, { ...facts, outcome: 'refused', clientId, userId });
}

/** Audits refusals of the work, so that attempts at member numbers or codes are visible. */
async function noteRefusal<T>(
  audit: AuditTrail,
  actor: Actor,
  { action, origin, work }: Pick<AuditEntry, 'action' | 'origin'> & { readonly work: Promise<T> },
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Problem) noteRefused(audit, actor, { action, reason: error.code, origin });
    throw error;
  }
}

function cannotListen(
  { host, port, setting }: { readonly host: string; readonly port: number; readonly setting: string },
  error: NodeJS.ErrnoException,
): Error {
  const where = `${host}:${port}`;
  if (error.code === 'EADDRINUSE') {
    return new ServiceStartError(
      `Another program listens on ${where} already. Set ${setting} to another port.`,
    );
  }
  if (error.code === 'EACCES') return new ServiceStartError(`This user may not listen on ${where}.`);
  return new ServiceStartError(`Cannot listen on ${where}: ${error.message}`);
}
