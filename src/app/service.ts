import { setTimeout as sleep } from 'node:timers/promises';
import { getAccount, getBalances, listAccounts, listCustomerAccounts } from '../accounts/index.ts';
import {
  acknowledgeActivationCode,
  acknowledgeEmailCode,
  activateMember,
  authorizationServerMetadata,
  changePassword,
  confirmEmail,
  type DepositOpening,
  getActivationCode,
  getEmailCode,
  identify,
  introspectToken,
  issueActivation,
  issueEmailCode,
  issueToken,
  refusalFor,
  revokeToken,
} from '../auth/index.ts';
import { readTransactions, takeTransactions } from '../core-connection/index.ts';
import { payDueOpening } from '../core-system/index.ts';
import type { AuditTrail, Origin } from '../events/index.ts';
import { listTransactions, readEvents } from '../feed/index.ts';
import { type CommitDelay, createServer, type Services } from '../http/index.ts';
import { type Actor, listInstitutions } from '../institutions/index.ts';
import { getProfile, registerMember, updateContact } from '../members/index.ts';
import { Problem } from '../shared/problem.ts';
import { within } from '../shared/within.ts';
import { type Clock, type InstitutionId, waitsForStandbys } from '../storage/index.ts';
import {
  cancelTransfer,
  explainTransfer,
  getTransfer,
  initiateTransfer,
  listTransferOptions,
  listTransfers,
  type TransferDesk,
} from '../transfers/index.ts';
import type { Config, Secrets } from './config.ts';
import { type AppContext, openAppContext, openDesk } from './context.ts';
import { startMaintenance } from './maintenance.ts';
import { type Log, openServiceLog, type ServiceLog } from './service-log.ts';
import { refuseOtherSecretKey, refusePublicDemo, ServiceStartError } from './start-checks.ts';
import { startSweeping } from './sweeper.ts';

export interface Service {
  readonly context: AppContext;
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
  const { desk, close: closeDesk } = openDesk(context, options);
  try {
    await refuseOtherSecretKey(context);
    await options.beforeListening?.(context);
    await refusePublicDemo(config, context);
    let stopping = false;
    const server = await createServer(
      servicesOf(context, desk, {
        isStopping: () => stopping,
        linePatienceMillis: config.requestTimeoutSeconds * 1000,
      }),
      {
        publicUrl: config.publicUrl,
        corsOrigins: config.corsOrigins,
        trustedProxies: config.trustedProxies,
        tokensPerMinute: config.tokensPerMinute,
        registrationsPerMinute: config.registrationsPerMinute,
        dryRunsPerMinute: config.dryRunsPerMinute,
        optionsPerMinute: config.optionsPerMinute,
        lookUpsPerMinute: config.lookUpsPerMinute,
        contactChangesPerMinute: config.contactChangesPerMinute,
        idConflictsPerMinute: config.idConflictsPerMinute,
        nowMillis: () => context.clock().getTime(),
        logLevel: config.logLevel,
        requestTimeoutSeconds: config.requestTimeoutSeconds,
        logStream: options.logStream ?? openServiceLog(config.logLevel).stream,
      },
    );
    const address = await server.listen({ host: config.host, port: config.port }).catch((error) => {
      throw cannotListen(config, error);
    });
    context.commits.onChange = (isDelayed) => {
      if (!isDelayed) options.log('commits_no_longer_wait');
      else
        commitDelay(context).then(
          (reason) => options.log(reason ?? 'commits_wait'),
          () => {},
        );
    };
    const stopMaintenance = startMaintenance(context, config.auditRetentionDays, options.log);
    const sweeper = startSweeping(context, desk, options.log);

    let closing: Promise<void> | undefined;
    const close = async () => {
      stopping = true;
      // A proxy in front reads `/readyz` and routes its requests elsewhere before the port closes.
      await sleep(config.shutdownDelaySeconds * 1000);
      stopMaintenance();
      const swept = sweeper.stop();
      const graceMillis = config.shutdownGraceSeconds * 1000;
      const patience = setTimeout(() => server.server.closeAllConnections(), graceMillis);
      await server.close();
      clearTimeout(patience);
      await within(Math.max(graceMillis, leastSweepPatienceMillis), swept);
      await closeDesk();
      await context.close();
    };
    return {
      context,
      address,
      close: () => {
        closing ??= close();
        return closing;
      },
    };
  } catch (error) {
    await closeDesk();
    await context.close();
    throw error;
  }
}

function servicesOf(
  context: AppContext,
  desk: TransferDesk,
  {
    isStopping,
    linePatienceMillis,
  }: { readonly isStopping: () => boolean; readonly linePatienceMillis: number },
): Services {
  const { auth, clock, businessTime, database, postingKeys } = context;
  const nowAt = ({ institutionId }: Actor) => businessTime(institutionId, clock());
  const institution = async (institutionId: InstitutionId) =>
    (await desk.deps.settings(institutionId)).institution;
  const registration = {
    database,
    clock,
    businessTime,
    postingKeys,
    issueActivation: issueActivation.bind(null, auth.vault),
    issueEmailCode: issueEmailCode.bind(null, auth.vault),
  };
  return {
    issueToken: (request) => issueToken(auth, request),
    revokeToken: (request) => revokeToken(auth, request),
    introspectToken: (request) => introspectToken(auth, request),
    authorizationServer: authorizationServerMetadata(auth.issuer),
    publishedKeys: () => auth.keys.published(),
    identify: (token, admit) => identify(auth, token, admit),
    registerMember: async (actor, member, origin) => {
      const registering = registerMember(registration, actor, member, origin);
      try {
        return await noteRefusal(auth.audit, 'user.registered', actor, origin, registering);
      } catch (error) {
        throw error instanceof Problem ? await refusalFor(auth, actor, error) : error;
      }
    },
    activateMember: async (actor, activation, origin) => {
      const postingKey = await postingKeys.next();
      const depositOpening: DepositOpening = (tx, personKey, at) =>
        payDueOpening(tx, personKey, { postingKey, at });
      const activating = activateMember({ ...auth, depositOpening }, actor, { ...activation, origin });
      const { userId } = await noteRefusal(auth.audit, 'user.activated', actor, origin, activating);
      return getProfile(database, actor, { id: userId, idType: 'USER_ID', now: nowAt(actor) });
    },
    changePassword: async (actor, change, origin) => {
      const changing = changePassword(auth, actor, { ...change, origin });
      await noteRefusal(auth.audit, 'user.password_changed', actor, origin, changing);
      return getProfile(database, actor, { id: actor.userId, idType: 'USER_ID', now: nowAt(actor) });
    },
    memory: auth.memory,
    getProfile: (actor, wanted) => getProfile(database, actor, { ...wanted, now: nowAt(actor) }),
    updateContact: (actor, customerId, change, origin) =>
      updateContact(registration, actor, customerId, change, origin),
    confirmEmail: async (actor, emailCode, origin) => {
      const confirming = confirmEmail(auth, actor, { emailCode, origin });
      const { userId } = await noteRefusal(auth.audit, 'user.email_confirmed', actor, origin, confirming);
      return getProfile(database, actor, { id: userId, idType: 'USER_ID', now: nowAt(actor) });
    },
    getAccount: (actor, accountId, basis) => getAccount(database, actor, accountId, basis),
    listAccounts: (actor, customerId, basis) => listAccounts(database, actor, customerId, basis),
    listCustomerAccounts: (actor, customerId, basis) =>
      listCustomerAccounts(database, actor, customerId, basis),
    listTransactions: (actor, accountId, { filter, page, basis }) =>
      listTransactions({ database, institution, basis }, actor, accountId, filter, page),
    getBalances: (actor, accountId, asOf) =>
      getBalances({ database, clock: () => nowAt(actor) }, actor, accountId, asOf),
    initiateTransfer: (actor, order, origin) => initiateTransfer(desk, actor, { order, origin }),
    explainTransfer: (actor, order) => explainTransfer(desk, actor, order),
    listTransferOptions: (actor, fromAccountId) => listTransferOptions(desk, actor, fromAccountId),
    cancelTransfer: (actor, transferId, origin) => cancelTransfer(desk, actor, { transferId, origin }),
    getTransfer: (actor, transferId) => getTransfer(database, actor, transferId),
    listTransfers: (actor, filter, page) => listTransfers({ database, institution }, actor, { filter, page }),
    readEvents: ({ institutionId }, start) => readEvents(database, institutionId, start),
    getActivationCode: (actor, eventId, origin) => getActivationCode(auth, actor, { eventId, origin }),
    acknowledgeActivationCode: (actor, eventId, origin) =>
      acknowledgeActivationCode(auth, actor, { eventId, origin }),
    getEmailCode: (actor, eventId, origin) => getEmailCode(auth, actor, { eventId, origin }),
    acknowledgeEmailCode: (actor, eventId, origin) => acknowledgeEmailCode(auth, actor, { eventId, origin }),
    takeCoreTransactions: async function* (actor, { bytes, format, origin }) {
      const own = await institution(actor.institutionId);
      const rules = () => ({ now: nowAt(actor), timeZone: own.timeZone });
      const lines = readTransactions(bytes, format, { rules, patienceMillis: linePatienceMillis });
      const deps = {
        database,
        clock,
        businessTime,
        postingKeys,
        inactiveTokens: desk.deps.inactiveTokens,
        isStopping,
      };
      return yield* takeTransactions(
        deps,
        { institution: own, clientId: actor.clientId, token: actor.token, origin },
        lines,
      );
    },
    noteRate: (actor, reason, origin) => noteCaller(auth.audit, 'rate_limit', actor, reason, origin),
    noteIdConflict: (actor, origin) =>
      noteCaller(auth.audit, 'transfer.id_conflict', actor, 'transfer_id_reused', origin),
    ready: async () => {
      if (isStopping()) throw new Problem('shutting_down', 'The service is about to stop.');
      await database.directory(listInstitutions);
      return commitDelay(context);
    },
  };
}

function noteCaller(
  audit: AuditTrail,
  action: 'rate_limit' | 'transfer.id_conflict',
  actor: Actor,
  reason: string,
  origin: Origin,
): void {
  const { institutionId, clientId } = actor;
  const userId = actor.kind === 'member' ? actor.userId : undefined;
  audit.note(institutionId, { action, outcome: 'refused', reason, origin, clientId, userId });
}

/** The reason why commits wait; null if they do not. */
async function commitDelay({ commits, database }: AppContext): Promise<CommitDelay | null> {
  if (!commits.isDelayed) return null;
  return (await database.directory(waitsForStandbys)) ? 'commits_wait_for_standby' : 'commits_wait';
}

/** Audits refusals, so that attempts at member numbers or codes are visible. */
async function noteRefusal<T>(
  audit: AuditTrail,
  action: 'user.registered' | 'user.activated' | 'user.email_confirmed' | 'user.password_changed',
  actor: Actor,
  origin: Origin,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Problem) {
      const { institutionId, clientId } = actor;
      const userId = actor.kind === 'member' ? actor.userId : undefined;
      audit.note(institutionId, { action, outcome: 'refused', reason: error.code, origin, clientId, userId });
    }
    throw error;
  }
}

function cannotListen(config: Config, error: NodeJS.ErrnoException): Error {
  const where = `${config.host}:${config.port}`;
  if (error.code === 'EADDRINUSE') {
    return new ServiceStartError(`Another program listens on ${where} already. Set PORT to another port.`);
  }
  if (error.code === 'EACCES') return new ServiceStartError(`This user may not listen on ${where}.`);
  return new ServiceStartError(`Cannot listen on ${where}: ${error.message}`);
}
