import path from 'node:path';
import { oneUrlPerHost } from '../shared/text/database-urls.ts';
import { isNetwork } from '../shared/text/network.ts';

/** A setting of the environment. The table below is also the table of docs/configuration.md. */
interface Setting<Value> {
  readonly name: string;
  readonly fallback: Value;
  /** The default as the page shows it; empty for none. */
  readonly shownDefault: string;
  /** Completes "expected …" in the refusal of a wrong value. */
  readonly expected: string;
  /** Undefined for a text that is not as expected. */
  readonly parse: (text: string) => Value | undefined;
  /** A sentence for docs/configuration.md, in Markdown. */
  readonly description: string;
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const mostPerMinute = 999_999_999;

const settings = {
  host: hostName('HOST', 'Address to listen on.'),
  port: integer('PORT', 8080, [0, 65_535], 'Port to listen on; 0 takes a free one.'),
  publicUrl: {
    name: 'PUBLIC_URL',
    fallback: undefined,
    shownDefault: '`http://HOST:PORT`',
    expected: 'an http or https URL without path, query or fragment, like https://bank.example',
    parse: parseOrigin,
    description: 'Issuer and audience of tokens, and the base of links. Use https in production.',
  } satisfies Setting<string | undefined>,
  appClientId: {
    name: 'APP_CLIENT_ID',
    fallback: 'demo-web',
    shownDefault: '`demo-web`',
    expected: 'the id of a client',
    parse: (text) => (/^[A-Za-z0-9._~-]{1,128}$/.test(text) ? text : undefined),
    description:
      'Client of the [member’s app](web.md) at `/app`. The app of any client is at `/app/<client id>`.',
  } satisfies Setting<string>,
  databaseUrl: postgresUrl(
    'DATABASE_URL',
    '',
    'An external PostgreSQL 15 or newer instead of the embedded one. Several hosts: `host1:5432,host2:5432` ([fail-over](replication.md)).',
  ),
  standbyDatabaseUrl: postgresUrl(
    'STANDBY_DATABASE_URL',
    'none',
    'Standbys of the primary, one host or several, for [pages of history](replication.md#reads-from-standbys). The login is that of `DATABASE_URL`.',
  ),
  migrationDatabaseUrl: postgresUrl(
    'MIGRATION_DATABASE_URL',
    '`DATABASE_URL`',
    'The login that owns the database. It migrates, then its connection is closed.',
  ),
  cellDatabaseUrl: postgresUrl(
    'CELL_DATABASE_URL',
    '',
    "For `institution move`: the other cell's database, with a login that may replicate and sees every row ([cells](cells.md)).",
  ),
  directoryDatabaseUrl: postgresUrl(
    'DIRECTORY_DATABASE_URL',
    '',
    'The [directory of the cells](cells.md#directory), with the login of a service. Without it the service knows no other cell.',
  ),
  migrationDirectoryDatabaseUrl: postgresUrl(
    'MIGRATION_DIRECTORY_DATABASE_URL',
    '`DIRECTORY_DATABASE_URL`',
    'For `sharedraft migrate`: the login that owns the directory.',
  ),
  forwardRequests: flag(
    'FORWARD_REQUESTS',
    'Send requests of an institution that another cell of the directory serves [on to that cell](cells.md#forwarding). `false` refuses them with 421.',
    true,
  ),
  databasePasswordFile: file(
    'DATABASE_PASSWORD_FILE',
    'File with the password of the login in `DATABASE_URL`, read for each new connection: replace it without a restart.',
  ),
  migrationDatabasePasswordFile: file(
    'MIGRATION_DATABASE_PASSWORD_FILE',
    'The same for `MIGRATION_DATABASE_URL`.',
  ),
  allowServingAsDatabaseOwner: flag(
    'ALLOW_SERVING_AS_DATABASE_OWNER',
    'Serve with a `DATABASE_URL` whose login owns the database. A superuser is always refused.',
  ),
  allowUnverifiedDatabase: flag(
    'ALLOW_UNVERIFIED_DATABASE',
    'Connect to a database on another machine without verifying its certificate ([TLS](#tls-to-the-database)).',
  ),
  workers: integer(
    'WORKERS',
    1,
    [1, 64],
    'Processes that serve on the one port, about one a core ([scaling](scaling.md)).',
  ),
  databaseConnections: integer(
    'DATABASE_CONNECTIONS',
    8,
    [2, 200],
    'Connections of each worker, beside the three that settle transfers, two for webhooks and logout tokens, and the one that asks for changes.',
  ),
  memoryMegabytes: integer(
    'MEMORY_MEGABYTES',
    48,
    [1, 4_096],
    'Memory of each worker for answers that it remembers ([reading](reading.md#remembered-answers)).',
  ),
  dataDir: {
    name: 'DATA_DIR',
    fallback: path.resolve('.sharedraft'),
    shownDefault: '`.sharedraft`',
    expected: 'a folder',
    parse: (text) => path.resolve(text),
    description: 'Folder of the embedded database and its key.',
  } satisfies Setting<string>,
  secretKey: {
    name: 'SECRET_KEY',
    fallback: undefined,
    shownDefault: 'made in `DATA_DIR`',
    expected: '32 bytes in hex or base64, as `openssl rand -base64 32` makes them',
    parse: parseKey,
    description:
      '32 bytes in hex or base64. Seals signing keys, and keys the hashes of secrets. Required with `DATABASE_URL`; `SECRET_KEY_FILE` names a file with it instead. [Changing it](security.md#changing-secret_key).',
  } satisfies Setting<Uint8Array | undefined>,
  secretKeyOther: {
    name: 'SECRET_KEY_OTHER',
    fallback: undefined,
    shownDefault: 'none',
    expected: '32 bytes in hex or base64, and not those of SECRET_KEY',
    parse: parseKey,
    description:
      'A second key that only opens, while [`SECRET_KEY` is changed](security.md#changing-secret_key): first the next one, then the one before. `SECRET_KEY_OTHER_FILE` names a file with it instead.',
  } satisfies Setting<Uint8Array | undefined>,
  logLevel: {
    name: 'LOG_LEVEL',
    fallback: 'info',
    shownDefault: '`info`',
    expected: `one of ${logLevels.join(', ')}`,
    parse: (text) => logLevels.find((level) => level === text.toLowerCase()),
    description: `${logLevels.map((level) => `\`${level}\``).join(' ')}. \`debug\` explains each batch of transfers and each refused token`,
  } satisfies Setting<(typeof logLevels)[number]>,
  metricsPort: {
    name: 'METRICS_PORT',
    fallback: undefined,
    shownDefault: 'none',
    expected: 'a whole number from 0 to 65535',
    parse: integer('METRICS_PORT', 0, [0, 65_535], '').parse,
    description:
      'Port of `/metrics` ([monitoring](monitoring.md)); 0 takes a free one. Without it the service counts nothing.',
  } satisfies Setting<number | undefined>,
  metricsHost: hostName(
    'METRICS_HOST',
    'Address of `/metrics`. It has no sign-in: keep it off public networks.',
  ),
  corsOrigins: {
    name: 'CORS_ORIGINS',
    fallback: [],
    shownDefault: 'none',
    expected: 'origins like https://app.example, with commas between',
    parse: (text) =>
      parseList(text, (origin) => isUrl(origin, httpProtocols) && new URL(origin).origin === origin),
    description: 'Origins that browsers may call from, with commas between.',
  } satisfies Setting<readonly string[]>,
  trustedProxies: {
    name: 'TRUSTED_PROXIES',
    fallback: [],
    shownDefault: 'none',
    expected: 'networks like 10.0.0.0/8 or 2001:db8::1, with commas between',
    parse: (text) => parseList(text, isNetwork),
    description:
      'Networks (CIDR) of the proxies in front, with commas between. `X-Forwarded-For` counts only if it comes from one of them.',
  } satisfies Setting<readonly string[]>,
  clientCertProxies: {
    name: 'CLIENT_CERT_PROXIES',
    fallback: [],
    shownDefault: 'none',
    expected: 'networks like 10.0.0.0/8 or 2001:db8::1, with commas between',
    parse: (text) => parseList(text, isNetwork),
    description:
      'Networks (CIDR) of the proxies that replace the header `Client-Cert` by the certificate of the connection, with commas between ([mutual TLS](fapi.md#mutual-tls)). From anybody else the header is ignored.',
  } satisfies Setting<readonly string[]>,
  mtlsUrl: {
    name: 'MTLS_URL',
    fallback: undefined,
    shownDefault: 'none',
    expected: 'an https URL without path, query or fragment, like https://bank.example:8443',
    parse: (text) => (text.startsWith('https:') ? parseOrigin(text) : undefined),
    description:
      'Address at which the proxy asks clients for certificates, if that is not `PUBLIC_URL`. The metadata name it in `mtls_endpoint_aliases`.',
  } satisfies Setting<string | undefined>,
  webhookPorts: {
    name: 'WEBHOOK_PORTS',
    fallback: [443],
    shownDefault: '`443`',
    expected: 'port numbers from 1 to 65535, with commas between',
    parse: (text) => parseList(text, isPort)?.map(Number),
    description:
      'Ports to which webhooks and logout tokens may be sent, with commas between. A demo institution may use any.',
  } satisfies Setting<readonly number[]>,
  smtpUrl: {
    name: 'SMTP_URL',
    fallback: undefined,
    shownDefault: 'none',
    expected: 'smtp://host:587 or smtps://host:465, with a user and without a password',
    parse: parseSmtpUrl,
    description:
      'Mail server for [alerts](alerts.md#by-e-mail), as `smtps://user@mail.example:465`. `smtp:` requires STARTTLS, except on this machine.',
  } satisfies Setting<string | undefined>,
  smtpPasswordFile: file(
    'SMTP_PASSWORD_FILE',
    'File with the password of the user in `SMTP_URL`. It is read again when the server refuses the login.',
  ),
  failedLoginPauseMillis: integer(
    'FAILED_LOGIN_PAUSE_MILLIS',
    250,
    [0, 2_000],
    'Pause before the next try after a failed login, doubled each time up to two seconds. 0 to 2000; 0 for none.',
  ),
  tokensPerMinute: perMinute(
    'TOKENS_PER_MINUTE',
    600_000,
    'Token requests of one client. The default only stops a runaway.',
  ),
  registrationsPerMinute: perMinute(
    'REGISTRATIONS_PER_MINUTE',
    60_000,
    'Registrations and activations of one client. The default only stops a runaway.',
  ),
  dryRunsPerMinute: perMinute(
    'DRY_RUNS_PER_MINUTE',
    300,
    'Dry runs of one user, and declined orders of that user. Beyond them, dry runs and orders get 429 until the minute is over. A client token has 600,000 of these and of the next three.',
  ),
  optionsPerMinute: perMinute('TRANSFER_OPTIONS_PER_MINUTE', 300, 'Lists of transfer options of one user.'),
  lookUpsPerMinute: perMinute('LOOK_UPS_PER_MINUTE', 300, 'Profiles that one user reads.'),
  contactChangesPerMinute: perMinute(
    'CONTACT_CHANGES_PER_MINUTE',
    10,
    'Changes of contact of one user. Each may send a code to an address.',
  ),
  idConflictsPerMinute: perMinute(
    'ID_CONFLICTS_PER_MINUTE',
    30,
    'Orders of one user under transfer ids of other orders (409). Beyond them, each order of the user gets 429 until the minute is over. At most as many orders of a user run at once as are left; the others wait.',
  ),
  coreLateSeconds: integer(
    'CORE_LATE_SECONDS',
    60,
    [1, 86_400],
    'A core that keeps the books is late after so many seconds without a request, or with an instruction that it has not fetched ([core](core.md#stand-in)).',
  ),
  coreAwaySeconds: integer(
    'CORE_AWAY_SECONDS',
    300,
    [1, 86_400],
    'After so many seconds it is away, and the stand-in limits apply.',
  ),
  threadPoolSize: integer(
    'UV_THREADPOOL_SIZE',
    4,
    [1, 1_024],
    "Node's own setting. At most half of these threads hash passwords, and at most all cores but one, shared by the workers.",
  ),
  auditRetentionDays: integer(
    'AUDIT_RETENTION_DAYS',
    400,
    [90, 3_660],
    'How long the audit of sign-ins, refusals and reads is kept, 90 to 3660 days, unless the institution has its own ([audit](audit.md#retention)).',
  ),
  auditChangesRetentionDays: integer(
    'AUDIT_CHANGES_RETENTION_DAYS',
    2_557,
    [1_827, 36_600],
    'How long the audit of changes is kept, likewise: 1827 days (five years) or longer.',
  ),
  accessTokenLifetimeSeconds: integer(
    'ACCESS_TOKEN_LIFETIME_SECONDS',
    1_800,
    [60, 86_400],
    'Lifetime of access tokens, 60 to 86400, unless the client has one of its own.',
  ),
  refreshTokenLifetimeDays: integer(
    'REFRESH_TOKEN_LIFETIME_DAYS',
    90,
    [1, 3_650],
    'How long a login may be renewed in all, 1 to 3650 days.',
  ),
  refreshTokenIdleDays: integer(
    'REFRESH_TOKEN_IDLE_DAYS',
    14,
    [1, 3_650],
    'How long a login may go without renewal, 1 to 3650 days.',
  ),
  signingKeyDays: integer(
    'SIGNING_KEY_DAYS',
    90,
    [1, 365],
    'How long a key signs tokens before the next takes over, 1 to 365 days.',
  ),
  requestTimeoutSeconds: integer(
    'REQUEST_TIMEOUT_SECONDS',
    30,
    [1, 300],
    'How long a request may take to arrive.',
  ),
  shutdownGraceSeconds: integer(
    'SHUTDOWN_GRACE_SECONDS',
    10,
    [0, 300],
    'How long requests in flight may take when the service stops.',
  ),
  shutdownDelaySeconds: integer(
    'SHUTDOWN_DELAY_SECONDS',
    0,
    [0, 300],
    'How long the service goes on while `/readyz` already reports 503 ([rolling restarts](operations.md#rolling-restarts)).',
  ),
  allowDemoAnywhere: flag(
    'ALLOW_DEMO_ANYWHERE',
    'Serve the demo also on a public address or from an external database. Its credentials are public.',
  ),
  demoCore: flag(
    'DEMO_CORE',
    'Beside the demo on the embedded database, run the [simulated core](core.md#the-demo-core) of the institution meadow.',
    true,
  ),
} as const;

/** The values of all settings. */
export type SettingValues = {
  readonly [Key in keyof typeof settings]: ReturnType<(typeof settings)[Key]['parse']> extends infer Value
    ? Exclude<Value, undefined> | (typeof settings)[Key]['fallback']
    : never;
};

/** Reads every setting, and one problem for each that is wrong. An empty value counts as not set. */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): {
  readonly values: SettingValues;
  readonly problems: readonly string[];
} {
  const problems: string[] = [];
  const values = Object.entries<Setting<unknown>>(settings).map(
    ([key, { name, fallback, expected, parse }]) => {
      const text = environment[name]?.trim();
      if (text === undefined || text === '') return [key, fallback];
      const value = parse(text);
      if (value === undefined) problems.push(`${name}: expected ${expected}`);
      return [key, value ?? fallback];
    },
  );
  return { values: Object.fromEntries(values) as SettingValues, problems };
}

/** The table of docs/configuration.md. */
export function settingsTable(): string {
  const rows = Object.values(settings).map(
    ({ name, shownDefault, description }) => `| \`${name}\` | ${shownDefault} | ${description} |`,
  );
  return ['| name | default | meaning |', '|---|---|---|', ...rows].join('\n');
}

/** 32 bytes in hex or base64. */
export function parseKey(text: string): Uint8Array | undefined {
  const bytes = /^[0-9a-fA-F]{64}$/.test(text)
    ? Buffer.from(text, 'hex')
    : /^[A-Za-z0-9+/_-]{43}=?$/.test(text)
      ? Buffer.from(text, 'base64')
      : undefined;
  return bytes?.length === 32 ? new Uint8Array(bytes) : undefined;
}

function integer(
  name: string,
  fallback: number,
  [least, most]: readonly [number, number],
  description: string,
): Setting<number> {
  return {
    name,
    fallback,
    shownDefault: `\`${fallback}\``,
    expected: `a whole number from ${least} to ${most}`,
    parse: (text) => {
      const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : Number.NaN;
      return value >= least && value <= most ? value : undefined;
    },
    description,
  };
}

function file(name: string, description: string): Setting<string | undefined> {
  return {
    name,
    fallback: undefined,
    shownDefault: 'none',
    expected: 'the path of a file',
    parse: (text) => path.resolve(text),
    description,
  };
}

function hostName(name: string, description: string): Setting<string> {
  return {
    name,
    fallback: '127.0.0.1',
    shownDefault: '`127.0.0.1`',
    expected: 'a host name or an IP address',
    parse: (text) => (/^[A-Za-z0-9.:_-]+$/.test(text) ? text : undefined),
    description,
  };
}

function perMinute(name: string, fallback: number, description: string): Setting<number> {
  return integer(name, fallback, [1, mostPerMinute], description);
}

function flag(name: string, description: string, fallback = false): Setting<boolean> {
  return {
    name,
    fallback,
    shownDefault: `\`${fallback}\``,
    expected: 'true or false',
    parse: (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
    description,
  };
}

function postgresUrl(name: string, shownDefault: string, description: string): Setting<string | undefined> {
  return {
    name,
    fallback: undefined,
    shownDefault,
    expected: 'a URL like postgres://user:password@host:5432/name',
    parse: (text) =>
      oneUrlPerHost(text).every((url) => isUrl(url, ['postgres:', 'postgresql:'])) ? text : undefined,
    description,
  };
}

const httpProtocols = ['http:', 'https:'];

function parseOrigin(text: string): string | undefined {
  if (!isUrl(text, httpProtocols)) return undefined;
  const { pathname, search, hash, username, origin } = new URL(text);
  return pathname === '/' && search === '' && hash === '' && username === '' ? origin : undefined;
}

function isPort(text: string): boolean {
  return /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535;
}

function parseList(text: string, isValid: (item: string) => boolean): readonly string[] | undefined {
  const items = text.split(',').map((item) => item.trim());
  return items.every(isValid) ? items : undefined;
}

function isUrl(text: string, protocols: readonly string[]): boolean {
  return URL.canParse(text) && protocols.includes(new URL(text).protocol);
}

function parseSmtpUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !['smtp:', 'smtps:'].includes(url.protocol)) return undefined;
  const { hostname, password, pathname, search, hash } = url;
  const isPlain =
    hostname !== '' && password === '' && pathname.replace('/', '') === '' && search + hash === '';
  return isPlain ? text : undefined;
}
