import { randomBytes } from 'node:crypto';
import { lstat, mkdir, open, readFile, stat, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { oneUrlPerHost } from '../shared/database-urls.ts';
import { trustedUsers } from '../shared/trusted-users.ts';

export interface Config {
  readonly host: string;
  readonly port: number;
  /** An external PostgreSQL 15 or newer; undefined: the embedded one in `dataDir`. */
  readonly databaseUrl: string | undefined;
  /** As whom to migrate, when the service's own login may not. */
  readonly migrationDatabaseUrl: string | undefined;
  /** Serve with a login that owns the database, and could change its schema. */
  readonly allowServingAsDatabaseOwner: boolean;
  /** Connect to a database on another machine without verifying its certificate. */
  readonly allowUnverifiedDatabase: boolean;
  /** In each worker. */
  readonly databaseConnections: number;
  /** Processes that serve on the one port. */
  readonly workers: number;
  readonly dataDir: string;
  /** Issuer and audience of tokens, and the base of links. */
  readonly publicUrl: string;
  readonly logLevel: (typeof logLevels)[number];
  readonly corsOrigins: readonly string[];
  /** Networks in CIDR notation: only what comes from them may say for whom. */
  readonly trustedProxies: readonly string[];
  readonly auditRetentionDays: number;
  /** Before the second try after a failed login; doubled each time, up to two seconds. */
  readonly failedLoginPauseMillis: number;
  /** For each client, in each worker. */
  readonly tokensPerMinute: number;
  readonly registrationsPerMinute: number;
  /** For each user, in each worker. */
  readonly dryRunsPerMinute: number;
  readonly optionsPerMinute: number;
  readonly lookUpsPerMinute: number;
  readonly contactChangesPerMinute: number;
  readonly idConflictsPerMinute: number;
  /** Passwords hashed at the same time, in each worker. */
  readonly hashingThreads: number;
  readonly accessTokenLifetimeSeconds: number;
  /** How long a login may be renewed in all, and how long it may go without. */
  readonly refreshTokenLifetimeDays: number;
  readonly refreshTokenIdleDays: number;
  /** How long a signing key signs before the next takes over. */
  readonly signingKeyDays: number;
  readonly requestTimeoutSeconds: number;
  readonly shutdownGraceSeconds: number;
  /** How long it serves on while `/readyz` reports that it is about to stop. */
  readonly shutdownDelaySeconds: number;
  /** Serve the demo institution, whose credentials are public, also on a public address or an external database. */
  readonly allowDemoAnywhere: boolean;
  /** `npm start` runs us, and we end with it. Told by npm, not by a setting. */
  readonly startedByNpm: boolean;
  /** SUDO_USER, as sudo sets it for the command that it runs. No setting either. */
  readonly sudoUser: string | undefined;
}

export interface Secrets {
  /** 32 bytes; undefined: the one kept in `dataDir`. */
  readonly keyEncryptionKey: Uint8Array | undefined;
}

/** Every wrong setting at once, each by name with what was expected. Values are not repeated: some are secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
  }
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The environment, and under it the file `.env` of the working folder when there is one. ConfigError if another user
 * owns it: in a folder like /tmp that user would choose the database for root's command.
 */
export async function readEnvironment(file = '.env'): Promise<Environment> {
  try {
    const { uid } = await lstat(file);
    const trusted = await trustedUsers();
    const owners = trusted === undefined ? [] : [uid, (await stat(file)).uid];
    const stranger = owners.find((owner) => !trusted?.includes(owner));
    if (stranger !== undefined) {
      throw new ConfigError([
        `.env: expected a file of the user that runs this or of root, and it belongs to user ${stranger}. Remove it, or run this in another folder`,
      ]);
    }
    return { ...parseEnv(await readFile(file, 'utf8')), ...process.env };
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return process.env;
    throw new ConfigError([`.env: cannot be read (${(error as Error).message})`]);
  }
}

/** Throws ConfigError. An empty value counts as not set. */
export function loadConfig(environment: Environment): { readonly config: Config; readonly secrets: Secrets } {
  const problems: string[] = [];
  const read = <T>(
    name: string,
    fallback: T,
    expected: string,
    parse: (text: string) => T | undefined,
  ): T => {
    const text = environment[name]?.trim();
    if (text === undefined || text === '') return fallback;
    const value = parse(text);
    if (value !== undefined) return value;
    problems.push(`${name}: expected ${expected}`);
    return fallback;
  };
  const integer = (name: string, fallback: number, least: number, most: number) =>
    read(name, fallback, `a whole number from ${least} to ${most}`, (text) => {
      const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : Number.NaN;
      return value >= least && value <= most ? value : undefined;
    });
  const postgresUrl = (name: string) =>
    read<string | undefined>(name, undefined, 'a URL like postgres://user:password@host:5432/name', (text) =>
      oneUrlPerHost(text).every((one) => isUrl(one, ['postgres:', 'postgresql:'])) ? text : undefined,
    );

  const yes = (name: string) =>
    read(name, false, 'true or false', (text) =>
      text === 'true' || text === 'false' ? text === 'true' : undefined,
    );

  const host = read('HOST', '127.0.0.1', 'a host name or an IP address', (text) =>
    /^[A-Za-z0-9.:_-]+$/.test(text) ? text : undefined,
  );
  const port = integer('PORT', 8080, 0, 65_535);
  const workers = integer('WORKERS', 1, 1, 64);
  /** One worker's, of what all of them have together. */
  const shareOf = (whole: number) => Math.max(1, Math.floor(whole / workers));
  const config: Config = {
    host,
    port,
    databaseUrl: postgresUrl('DATABASE_URL'),
    migrationDatabaseUrl: postgresUrl('MIGRATION_DATABASE_URL'),
    allowServingAsDatabaseOwner: yes('ALLOW_SERVING_AS_DATABASE_OWNER'),
    allowUnverifiedDatabase: yes('ALLOW_UNVERIFIED_DATABASE'),
    databaseConnections: integer('DATABASE_CONNECTIONS', 8, 2, 200),
    workers,
    dataDir: path.resolve(read('DATA_DIR', '.sharedraft', 'a folder', (text) => text)),
    publicUrl: read(
      'PUBLIC_URL',
      `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
      'an http or https URL without path, query or fragment, like https://bank.example',
      (text) => {
        if (!isUrl(text, ['http:', 'https:'])) return undefined;
        const url = new URL(text);
        const bare = url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
        return bare ? url.origin : undefined;
      },
    ),
    logLevel: read('LOG_LEVEL', 'info', `one of ${logLevels.join(', ')}`, (text) =>
      logLevels.find((level) => level === text.toLowerCase()),
    ),
    corsOrigins: read<string[]>(
      'CORS_ORIGINS',
      [],
      'origins like https://app.example, with commas between',
      (text) => {
        const origins = text.split(',').map((origin) => origin.trim());
        return origins.every(
          (origin) => isUrl(origin, ['http:', 'https:']) && new URL(origin).origin === origin,
        )
          ? origins
          : undefined;
      },
    ),
    trustedProxies: read<string[]>(
      'TRUSTED_PROXIES',
      [],
      'networks like 10.0.0.0/8 or 2001:db8::1, with commas between',
      (text) => {
        const networks = text.split(',').map((network) => network.trim());
        return networks.every(isNetwork) ? networks : undefined;
      },
    ),
    failedLoginPauseMillis: integer('FAILED_LOGIN_PAUSE_MILLIS', 250, 0, 2_000),
    tokensPerMinute: shareOf(integer('TOKENS_PER_MINUTE', 600_000, 1, 999_999_999)),
    registrationsPerMinute: shareOf(integer('REGISTRATIONS_PER_MINUTE', 60_000, 1, 999_999_999)),
    dryRunsPerMinute: shareOf(integer('DRY_RUNS_PER_MINUTE', 300, 1, 999_999_999)),
    optionsPerMinute: shareOf(integer('TRANSFER_OPTIONS_PER_MINUTE', 300, 1, 999_999_999)),
    lookUpsPerMinute: shareOf(integer('LOOK_UPS_PER_MINUTE', 300, 1, 999_999_999)),
    contactChangesPerMinute: shareOf(integer('CONTACT_CHANGES_PER_MINUTE', 10, 1, 999_999_999)),
    idConflictsPerMinute: shareOf(integer('ID_CONFLICTS_PER_MINUTE', 30, 1, 999_999_999)),
    hashingThreads: Math.max(
      1,
      // Half of libuv's threads (Node's own setting) are left for files and names, and a core for everything else.
      Math.min(
        shareOf(availableParallelism() - 1),
        Math.floor(integer('UV_THREADPOOL_SIZE', 4, 1, 1_024) / 2),
      ),
    ),
    auditRetentionDays: integer('AUDIT_RETENTION_DAYS', 400, 90, 3_660),
    accessTokenLifetimeSeconds: integer('ACCESS_TOKEN_LIFETIME_SECONDS', 1_800, 60, 86_400),
    refreshTokenLifetimeDays: integer('REFRESH_TOKEN_LIFETIME_DAYS', 90, 1, 3_650),
    refreshTokenIdleDays: integer('REFRESH_TOKEN_IDLE_DAYS', 14, 1, 3_650),
    signingKeyDays: integer('SIGNING_KEY_DAYS', 90, 1, 365),
    requestTimeoutSeconds: integer('REQUEST_TIMEOUT_SECONDS', 30, 1, 300),
    shutdownGraceSeconds: integer('SHUTDOWN_GRACE_SECONDS', 10, 0, 300),
    shutdownDelaySeconds: integer('SHUTDOWN_DELAY_SECONDS', 0, 0, 300),
    allowDemoAnywhere: yes('ALLOW_DEMO_ANYWHERE'),
    startedByNpm: environment.npm_lifecycle_event === 'start',
    sudoUser: environment.SUDO_USER || undefined,
  };
  const keyEncryptionKey = read<Uint8Array | undefined>(
    'SECRET_KEY',
    undefined,
    '32 bytes in hex or base64, as `openssl rand -base64 32` makes them',
    readKey,
  );
  if (config.databaseUrl !== undefined && keyEncryptionKey === undefined) {
    problems.push('SECRET_KEY: expected beside DATABASE_URL, 32 bytes in hex or base64');
  }
  if (config.migrationDatabaseUrl !== undefined && config.databaseUrl === undefined) {
    problems.push('MIGRATION_DATABASE_URL: expected only beside DATABASE_URL');
  }
  if (environment.NODE_TLS_REJECT_UNAUTHORIZED === '0' && !config.allowUnverifiedDatabase) {
    problems.push(
      'NODE_TLS_REJECT_UNAUTHORIZED: expected not to be 0, with which Node verifies no certificate, unless ALLOW_UNVERIFIED_DATABASE=true',
    );
  }
  // Each worker has its own, and three that settle transfers; the embedded server takes 100, some of them for itself.
  if (config.databaseUrl === undefined && config.workers * (config.databaseConnections + 3) > 90) {
    problems.push(
      'DATABASE_CONNECTIONS: expected fewer, or fewer WORKERS: the embedded database takes 90 in all',
    );
  }
  if (problems.length > 0) throw new ConfigError([...new Set(problems)]);
  return { config, secrets: { keyEncryptionKey } };
}

/**
 * The configured key or, with the embedded database, the one made at the first start and kept beside it. ConfigError where that
 * cannot be kept, is damaged, belongs to another user than this process's or root, or is open to others: it seals all other
 * secrets.
 */
export async function keyEncryptionKey(
  config: Config,
  secrets: Secrets,
  ownUid = process.geteuid?.(),
): Promise<Uint8Array> {
  if (secrets.keyEncryptionKey !== undefined) return secrets.keyEncryptionKey;
  const file = path.join(config.dataDir, 'secret.key');
  await mkdir(config.dataDir, { recursive: true });
  await writeFile(file, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx' }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST')
        throw new ConfigError([`DATA_DIR: cannot keep a key in it (${error.code})`]);
    },
  );
  await using kept = await open(file).catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError([`${file}: cannot be read (${error.code})`]);
  });
  const { mode: type, uid } = await kept.stat();
  if (ownUid !== undefined && uid !== ownUid && uid !== 0) {
    throw new ConfigError([
      `${file}: expected a file of the user that runs this (${ownUid}) or of root, and it belongs to user ${uid}`,
    ]);
  }
  const mode = type & 0o777;
  if ((mode & 0o077) !== 0) {
    throw new ConfigError([
      `${file}: expected a file for its owner alone (chmod 600), and others have rights to it (${mode.toString(8)})`,
    ]);
  }
  const key = readKey((await kept.readFile('utf8')).trim());
  if (key === undefined) throw new ConfigError([`${file}: expected 32 bytes in base64; the file is damaged`]);
  return key;
}

function readKey(text: string): Uint8Array | undefined {
  const bytes = /^[0-9a-fA-F]{64}$/.test(text)
    ? Buffer.from(text, 'hex')
    : /^[A-Za-z0-9+/_-]{43}=?$/.test(text)
      ? Buffer.from(text, 'base64')
      : undefined;
  return bytes?.length === 32 ? new Uint8Array(bytes) : undefined;
}

function isNetwork(text: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/([0-9]{1,3}))?$/.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(bits ?? 0) <= (family === 6 ? 128 : 32);
}

function isUrl(text: string, protocols: readonly string[]): boolean {
  return URL.canParse(text) && protocols.includes(new URL(text).protocol);
}
