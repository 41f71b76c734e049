import type { AlertDeps } from '../alerts/index.ts';
import {
  AccessTokens,
  type AuthDeps,
  ClientDirectory,
  inactiveTokens,
  LoginBackoff,
  lockConsentsToPay,
  openVault,
  PasswordHasher,
  ProofNonces,
  Providers,
  ResourceTokens,
  SigningKeys,
  SprayBrake,
  tooManyLogins,
  UsedProofs,
} from '../auth/index.ts';
import type { CellDirectory } from '../cell-directory/index.ts';
import { ConnectionStates, CoreWatch } from '../core-connection/index.ts';
import {
  borrowEmbeddedPostgres,
  type EmbeddedPostgres,
  ownEmbeddedPostgres,
} from '../embedded-postgres/index.ts';
import {
  type AuditRetention,
  AuditTrail,
  appendAudit,
  beginEpochAfterRestore,
  beginEpochsOfTimeline,
  type Origin,
  ownOrigin,
  wholeService,
} from '../events/index.ts';
import {
  type BusinessTime,
  findInstitution,
  listAllInstitutions,
  type NameClaims,
  SandboxClocks,
  Served,
} from '../institutions/index.ts';
import { PostingKeys } from '../ledger/index.ts';
import type { MailTransport } from '../mail/index.ts';
import { ChangeWatch, ValidatedMemory } from '../memory/index.ts';
import { FairQueue } from '../shared/fair-queue.ts';
import {
  type Clock,
  CommitWatch,
  Database,
  DatabaseStartError,
  type Directory,
  embeddedLogin,
  letOwnerServe,
  mayCreateLargeObjects,
  migrate,
  refuseOtherSettings,
  refuseTransactionPooling,
  refuseUnfitLogin,
  refuseUnverifiedUrl,
  type SocketConnection,
  systemClock,
} from '../storage/index.ts';
import {
  type AskScreening,
  deskSettings,
  logAhead,
  openTransferDesk,
  rememberSettings,
  type TransferDesk,
  transferLanes,
} from '../transfers/index.ts';
import type { WebhookDeps } from '../webhooks/index.ts';
import { claimsIn, DirectoryState, openDirectory } from './cells/open-directory.ts';
import type { Config, Secrets } from './config.ts';
import { openMail } from './mail-services.ts';
import { keyEncryptionKey } from './secret-key.ts';
import type { Log } from './service-log.ts';

const dayMillis = 24 * 60 * 60_000;

/** The login of the service, and additional settings of its connections. */
interface ServiceConnection {
  readonly connection: string | SocketConnection;
  readonly sessionSettings: Readonly<Record<string, string>>;
}

/** Shared by the service and the operator's commands: a migrated database and the parts that read and write it. */
export interface AppContext extends ServiceConnection {
  /** The reason why this database may hold demo institutions only; undefined if it may hold any. */
  readonly demoOnly: string | undefined;
  readonly database: Database;
  readonly commits: CommitWatch;
  /** Runs on each new connection. */
  readonly onConnect: (db: Directory) => Promise<void>;
  readonly clock: Clock;
  readonly sandboxClocks: SandboxClocks;
  /** Knows the institutions that have moved or are moving. */
  readonly served: Served;
  /** The directory of the cells; undefined for a service that knows no other cell. */
  readonly directory: CellDirectory | undefined;
  readonly directoryState: DirectoryState;
  /** Undefined without a directory. */
  readonly claims: NameClaims | undefined;
  readonly businessTime: BusinessTime;
  readonly postingKeys: PostingKeys;
  readonly auth: AuthDeps;
  /** When a core is late, and when it is away. */
  readonly corePatience: { readonly lateMillis: number; readonly awayMillis: number };
  readonly webhooks: WebhookDeps;
  readonly alerts: AlertDeps;
  readonly mail: MailTransport;
  /** For institutions without periods of their own. */
  readonly auditRetention: AuditRetention;
  close(): Promise<void>;
}

/**
 * `own` starts the embedded database and stops it with this process; `borrow` uses a running one, and starts it only for
 * the time of a command. Throws DatabaseStartError, ConfigError.
 */
export async function openAppContext(
  config: Config,
  secrets: Secrets,
  embedded: 'own' | 'borrow',
  log: Log,
  clock: Clock = systemClock,
  origin: Origin = ownOrigin(),
): Promise<AppContext> {
  const postgres = config.databaseUrl === undefined ? await startEmbedded(config, embedded, log) : undefined;
  const { connection, sessionSettings, applied } = await prepareDatabase(config, postgres).catch(
    async (error) => {
      await postgres?.stop();
      throw error;
    },
  );
  const commits = new CommitWatch();
  const onConnect = async (db: Directory) => {
    if (await beginEpochsOfTimeline(db, clock())) log('event_epoch_began');
  };
  const onIdleError = (error: Error) => log('database_connection_lost', { error });
  const served = new Served();
  const requireServed = served.require;
  const shared = { connection, commits, onConnect, settings: sessionSettings, onIdleError, requireServed };
  const database = new Database({ ...shared, maxConnections: config.databaseConnections });
  const changes = new Database({ ...shared, maxConnections: 1 });
  try {
    await refuseUnfitLogin(database, config.allowServingAsDatabaseOwner);
    await refuseOtherSettings(database);
    if (await mayCreateLargeObjects(database)) log('large_objects_open');
    if (applied.length > 0) await recordMigrations(database, applied, origin, clock());
    const institutions = await database.directory(listAllInstitutions);
    served.learn(institutions);
    const sandboxClocks = new SandboxClocks();
    sandboxClocks.learn(institutions);
    const { businessTime } = sandboxClocks;
    for (const { institutionId, demo, served: state } of institutions) {
      if (state !== 'here') continue;
      if (postgres?.demoOnly !== undefined && !demo) throw new DatabaseStartError(postgres.demoOnly);
      if (await beginEpochAfterRestore(database, institutionId, clock))
        log('event_epoch_began', { institutionId });
    }
    const current = await keyEncryptionKey(config, secrets);
    const vault = await openVault(database, { current, other: secrets.otherKey });
    const audit = new AuditTrail({
      database,
      clock,
      onError: (error) => log('audit_not_written', { error }),
    });
    const directory = await database.directory((db) =>
      openDirectory(config, { db, clock, origin, onIdleError }),
    );
    const claims = directory && claimsIn(directory, database);
    const withPosition = config.standbyDatabaseUrl !== undefined;
    const watch = new ChangeWatch(changes, { withPosition });
    const memory = new ValidatedMemory({
      ask: (known) => watch.ask(known),
      clock,
      maxBytes: config.memoryMegabytes * 1_000_000,
    });
    const providers = new Providers(database, memory);
    const keys = new SigningKeys(database, vault, clock, { rotationDays: config.signingKeyDays });
    const mail = openMail(config, { database, clock, vault });
    return {
      connection,
      sessionSettings,
      demoOnly: postgres?.demoOnly,
      database,
      commits,
      onConnect,
      clock,
      sandboxClocks,
      served,
      directory,
      directoryState: new DirectoryState(),
      claims,
      businessTime,
      postingKeys: new PostingKeys(database),
      corePatience: {
        lateMillis: config.coreLateSeconds * 1000,
        awayMillis: config.coreAwaySeconds * 1000,
      },
      auth: {
        database,
        clock,
        memory,
        businessTime,
        vault,
        keys,
        clientDirectory: new ClientDirectory(database),
        claims,
        host: undefined,
        issuer: config.publicUrl,
        tokens: new AccessTokens({ keys, clock, issuer: config.publicUrl }),
        proofNonces: new ProofNonces(vault, clock),
        usedProofs: new UsedProofs(database),
        providers,
        resourceTokens: new ResourceTokens(providers, clock, memory),
        passwords: new PasswordHasher(config.hashingThreads),
        audit,
        // One more than are hashed: it is looked up meanwhile. One client alone has room for a storm of 500.
        logins: new FairQueue(config.hashingThreads + 1, 1_024, tooManyLogins),
        loginBackoff: new LoginBackoff({ clock, firstMillis: config.failedLoginPauseMillis }),
        sprays: new SprayBrake({ clock, pauseMillis: 8 * config.failedLoginPauseMillis }),
        clientBackoff: new LoginBackoff({ clock, firstMillis: config.failedLoginPauseMillis }),
        accessTokenLifetimeSeconds: config.accessTokenLifetimeSeconds,
        refreshTokens: {
          lifetimeMillis: config.refreshTokenLifetimeDays * dayMillis,
          idleMillis: config.refreshTokenIdleDays * dayMillis,
        },
      },
      webhooks: {
        database,
        clock,
        vault,
        institution: (institutionId) => database.directory((db) => findInstitution(db, institutionId)),
        ports: config.webhookPorts,
      },
      alerts: {
        database,
        clock,
        timeZoneOf: async (institutionId) => {
          const institution = await database.directory((db) => findInstitution(db, institutionId));
          if (institution === undefined) throw new Error('alerts: an institution that does not exist');
          return institution.timeZone;
        },
      },
      mail,
      auditRetention: {
        accessDays: config.auditRetentionDays,
        changesDays: config.auditChangesRetentionDays,
      },
      close: async () => {
        memory.close();
        await audit.close();
        await changes.close();
        mail.close();
        await directory?.close();
        await database.close();
        await postgres?.stop();
      },
    };
  } catch (error) {
    // Its connections would keep this process alive, and a borrowed server that nobody else uses.
    await database.close();
    await postgres?.stop();
    throw error;
  }
}

/** The parts that know the cores: who waits for them, and how they are doing. */
export interface CoreParts {
  readonly watch: CoreWatch;
  readonly states: ConnectionStates;
}

export function coreConnection({
  database,
  clock,
  businessTime,
  corePatience: patience,
}: Pick<AppContext, 'database' | 'clock' | 'businessTime' | 'corePatience'>): CoreParts {
  return {
    watch: new CoreWatch(database, clock),
    states: new ConnectionStates({ database, clock, businessTime, patience }),
  };
}

export interface OpenDesk {
  readonly desk: TransferDesk;
  /** The connections of its lanes. */
  readonly ledger: Database;
  close(): Promise<void>;
}

/**
 * Opens the desk that settles transfers, with connections for its batches only. Their settings keep plans good on tables that
 * were analyzed while empty.
 */
export function openDesk(
  context: Pick<AppContext, 'onConnect' | 'database' | 'commits' | 'postingKeys' | 'auth'> &
    Pick<AppContext, 'connection' | 'sessionSettings' | 'clock' | 'businessTime' | 'corePatience'>,
  {
    log = () => {},
    debug,
    core = coreConnection(context),
    askScreening,
  }: {
    readonly log?: Log;
    readonly debug?: Log | undefined;
    readonly core?: CoreParts;
    readonly askScreening?: AskScreening;
  } = {},
): OpenDesk {
  const { connection, sessionSettings, database, commits, onConnect } = context;
  const { clock, businessTime, postingKeys } = context;
  const ledger = new Database({
    connection,
    maxConnections: transferLanes,
    commits,
    onConnect,
    settings: { ...sessionSettings, ...deskSettings },
  });
  const deps: Parameters<typeof openTransferDesk>[1] = {
    database,
    clock,
    businessTime,
    postingKeys,
    settings: rememberSettings(database),
    inactiveTokens,
    lockConsents: lockConsentsToPay,
    onAhead: logAhead(log),
    isCoreAway: (institutionId) => core.states.isAway(institutionId),
    onCommitted: core.watch.committed,
    ...(askScreening && { askScreening }),
  };
  const desk = openTransferDesk(ledger, deps, debug && ((report) => debug('batch', report)));
  return { desk, ledger, close: () => ledger.close() };
}

/** The connections of the senders of webhooks and logouts: few, so that many receivers do not take those of the requests. */
export function openDeliveries(
  {
    connection,
    commits,
    onConnect,
    sessionSettings: settings,
    served: { require: requireServed },
  }: Pick<AppContext, 'connection' | 'commits' | 'served'> &
    Pick<AppContext, 'onConnect' | 'sessionSettings'>,
  log: Log,
): Database {
  const onIdleError = (error: Error) => log('database_connection_lost', { error });
  const shared = { connection, commits, onConnect, settings, onIdleError, requireServed };
  return new Database({ ...shared, maxConnections: 2 });
}

/** Migrates this database, and the directory of the cells if it is set, for an owner that does not serve. DatabaseStartError. */
export async function migrateDatabase(config: Config): Promise<void> {
  const { directoryDatabaseUrl, migrationDirectoryDatabaseUrl: owner = directoryDatabaseUrl } = config;
  if (owner !== undefined) {
    if (!config.allowUnverifiedDatabase) refuseUnverifiedUrl(owner, 'MIGRATION_DIRECTORY_DATABASE_URL');
    await migrate(owner, { schema: 'directory' });
  }
  const postgres =
    config.databaseUrl === undefined ? await startEmbedded(config, 'borrow', () => {}) : undefined;
  try {
    await migrateAsOwner(config, postgres);
  } finally {
    await postgres?.stop();
  }
}

async function prepareDatabase(
  config: Config,
  postgres: EmbeddedPostgres | undefined,
): Promise<ServiceConnection & { readonly applied: readonly string[] }> {
  const { owner, applied } = await migrateAsOwner(config, postgres);
  if (postgres !== undefined) {
    return { connection: { ...postgres.connection, user: embeddedLogin }, sessionSettings: {}, applied };
  }
  const sessionSettings: Record<string, string> = config.allowServingAsDatabaseOwner
    ? { role: await letOwnerServe(owner) }
    : {};
  const connection = config.databaseUrl as string;
  // Migrating has asked this of the owner's.
  if (connection !== owner) await refuseTransactionPooling(connection);
  return { connection, sessionSettings, applied };
}

/** Any command migrates an older schema, so each audits the migrations that it applied. */
async function recordMigrations(
  database: Database,
  applied: readonly string[],
  origin: Origin,
  at: Date,
): Promise<void> {
  const entry = { action: 'schema.migrated', outcome: 'succeeded', origin, after: { applied } } as const;
  await database.transaction(wholeService, (tx) => appendAudit(tx, entry, at));
}

/** Uses the owner's login if there is one, and closes its connection. */
async function migrateAsOwner(
  config: Config,
  postgres: EmbeddedPostgres | undefined,
): Promise<{ readonly owner: string | SocketConnection; readonly applied: readonly string[] }> {
  if (postgres !== undefined) {
    const applied = await migrate(postgres.connection, { login: embeddedLogin });
    return { owner: postgres.connection, applied };
  }
  const { databaseUrl = '', migrationDatabaseUrl } = config;
  if (!config.allowUnverifiedDatabase) {
    refuseUnverifiedUrl(databaseUrl, 'DATABASE_URL');
    if (migrationDatabaseUrl !== undefined)
      refuseUnverifiedUrl(migrationDatabaseUrl, 'MIGRATION_DATABASE_URL');
    if (config.standbyDatabaseUrl !== undefined)
      refuseUnverifiedUrl(config.standbyDatabaseUrl, 'STANDBY_DATABASE_URL');
  }
  const owner = migrationDatabaseUrl ?? databaseUrl;
  return { owner, applied: await migrate(owner) };
}

function startEmbedded(config: Config, embedded: 'own' | 'borrow', log: Log): Promise<EmbeddedPostgres> {
  const start = embedded === 'own' ? ownEmbeddedPostgres : borrowEmbeddedPostgres;
  return start({ dataDir: config.dataDir, log });
}
