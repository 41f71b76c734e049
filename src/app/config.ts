import { readFileSync } from 'node:fs';
import { lstat, readFile, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { parseEnv } from 'node:util';
import { trustedUsers } from '../shared/process/trusted-users.ts';
import { withPasswordFile } from '../storage/index.ts';
import { readSettings, type SettingValues } from './settings.ts';

/** The settings, as one worker uses them. */
export interface Config
  extends Omit<
    SettingValues,
    | 'secretKey'
    | 'secretKeyOther'
    | 'threadPoolSize'
    | 'databasePasswordFile'
    | 'migrationDatabasePasswordFile'
  > {
  readonly publicUrl: string;
  /** Passwords hashed at the same time, in each worker. */
  readonly hashingThreads: number;
  /** `npm start` runs the service, which ends with npm. Read from npm's environment; no setting. */
  readonly startedByNpm: boolean;
  /** SUDO_USER, as sudo sets it for the command that it runs; no setting. */
  readonly sudoUser: string | undefined;
}

export interface Secrets {
  /** 32 bytes; undefined: the key kept in `dataDir`. */
  readonly keyEncryptionKey: Uint8Array | undefined;
  /** A second one, which only opens. */
  readonly otherKey?: Uint8Array | undefined;
}

/** Names every wrong setting at once, each with the expected form. Values are left out: some are secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The environment, with the file `.env` of the working folder beneath it if there is one. Throws ConfigError if another user
 * owns that file: in a folder like /tmp that user would choose the database for root's command.
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
export function loadConfig(given: Environment): { readonly config: Config; readonly secrets: Secrets } {
  const { environment, problems: unread } = withSecretKeysOfFiles(given);
  const { values, problems: wrong } = readSettings(environment);
  const {
    secretKey,
    secretKeyOther,
    threadPoolSize,
    databasePasswordFile,
    migrationDatabasePasswordFile,
    ...own
  } = values;
  const { host, port, workers } = own;
  /** One worker's share of a number that holds for all of them together. */
  const shareOf = (whole: number) => Math.max(1, Math.floor(whole / workers));
  const rates = Object.entries(own).flatMap(([name, value]) =>
    name.endsWith('PerMinute') ? [[name, shareOf(Number(value))]] : [],
  );
  const config: Config = {
    ...own,
    databaseUrl: withPassword(own.databaseUrl, databasePasswordFile),
    standbyDatabaseUrl: withPassword(own.standbyDatabaseUrl, databasePasswordFile),
    migrationDatabaseUrl: withPassword(own.migrationDatabaseUrl, migrationDatabasePasswordFile),
    ...Object.fromEntries(rates),
    publicUrl: own.publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    // Half of libuv's threads are left for files and host names, and one core for everything else.
    hashingThreads: Math.max(
      1,
      Math.min(shareOf(availableParallelism() - 1), Math.floor(threadPoolSize / 2)),
    ),
    startedByNpm: environment.npm_lifecycle_event === 'start',
    sudoUser: environment.SUDO_USER || undefined,
  };
  const problems = [...unread, ...wrong, ...contradictions(config, secretKey, environment)];
  if (
    secretKey !== undefined &&
    secretKeyOther !== undefined &&
    Buffer.from(secretKey).equals(secretKeyOther)
  )
    problems.push('SECRET_KEY_OTHER: expected another key than SECRET_KEY');
  if (problems.length > 0) throw new ConfigError([...new Set(problems)]);
  return { config, secrets: { keyEncryptionKey: secretKey, otherKey: secretKeyOther } };
}

function withPassword(url: string | undefined, file: string | undefined): string | undefined {
  return url === undefined || file === undefined ? url : withPasswordFile(url, file);
}

/**
 * The keys from the files that SECRET_KEY_FILE and SECRET_KEY_OTHER_FILE name: the environment of a process shows in more places than a
 * file, such as crash reports and `docker inspect`.
 */
function withSecretKeysOfFiles(given: Environment): {
  readonly environment: Environment;
  readonly problems: readonly string[];
} {
  const environment: Record<string, string | undefined> = { ...given };
  const problems: string[] = [];
  for (const name of ['SECRET_KEY', 'SECRET_KEY_OTHER']) {
    const file = given[`${name}_FILE`]?.trim();
    if (!file) continue;
    if (given[name]) {
      problems.push(`${name}_FILE: expected only without ${name}`);
      continue;
    }
    try {
      environment[name] = readFileSync(file, 'utf8');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      problems.push(`${name}_FILE: expected a readable file (${code})`);
    }
  }
  return { environment, problems };
}

/** Problems of settings that are well formed and do not fit each other. */
function contradictions(
  config: Config,
  secretKey: Uint8Array | undefined,
  environment: Environment,
): readonly string[] {
  const { databaseUrl, migrationDatabaseUrl, allowUnverifiedDatabase, workers, databaseConnections } = config;
  const problems: string[] = [];
  if (databaseUrl !== undefined && secretKey === undefined) {
    problems.push('SECRET_KEY: expected beside DATABASE_URL, 32 bytes in hex or base64');
  }
  if (migrationDatabaseUrl !== undefined && databaseUrl === undefined) {
    problems.push('MIGRATION_DATABASE_URL: expected only beside DATABASE_URL');
  }
  if (config.standbyDatabaseUrl !== undefined && databaseUrl === undefined) {
    problems.push('STANDBY_DATABASE_URL: expected only beside DATABASE_URL');
  }
  if (environment.NODE_TLS_REJECT_UNAUTHORIZED === '0' && !allowUnverifiedDatabase) {
    problems.push(
      'NODE_TLS_REJECT_UNAUTHORIZED: expected not to be 0, with which Node verifies no certificate, unless ALLOW_UNVERIFIED_DATABASE=true',
    );
  }
  // Each worker has these, and beside them those that docs/configuration.md lists; the embedded server takes 100, some of them for itself.
  if (databaseUrl === undefined && workers * (databaseConnections + 6) > 90) {
    problems.push(
      'DATABASE_CONNECTIONS: expected fewer, or fewer WORKERS: the embedded database takes 90 in all',
    );
  }
  return problems;
}
