import { existsSync } from 'node:fs';
import { readFile, statfs } from 'node:fs/promises';
import path from 'node:path';
import { DecryptionError, openVault, SigningKeys } from '../../auth/index.ts';
import type { CellDirectory } from '../../cell-directory/index.ts';
import { readPublication } from '../../cells/index.ts';
import { borrowEmbeddedPostgres } from '../../embedded-postgres/index.ts';
import { ownOrigin } from '../../events/index.ts';
import { listInstitutions } from '../../institutions/index.ts';
import { selectOperationalFigures } from '../../metrics/index.ts';
import {
  countOtherSecrets,
  type Finding,
  judgeDatabase,
  judgeDisk,
  judgeIndexBloat,
  judgeInstitution,
  judgeKey,
  judgeMoves,
  judgeOtherKey,
  judgeReplication,
  judgeUnseenDisk,
  judgeWork,
  ok,
  problem,
  selectDatabaseFacts,
  selectInstitutionFacts,
  selectKeyFacts,
  selectLargestIndexes,
  selectMoveTraces,
  selectReplicationFacts,
  selectSpaceFacts,
  warning,
} from '../../operators/index.ts';
import { Problem } from '../../shared/problem.ts';
import { repositoryRoot } from '../../shared/process/repository-root.ts';
import {
  type Clock,
  Database,
  DatabaseStartError,
  embeddedLogin,
  refuseOtherSettings,
  refuseTransactionPooling,
  refuseUnfitLogin,
  refuseUnverifiedUrl,
  type SocketConnection,
  systemClock,
  unappliedMigrations,
} from '../../storage/index.ts';
import { openDirectory } from '../cells/open-directory.ts';
import { type Config, ConfigError, loadConfig, type Secrets } from '../config.ts';
import { keyEncryptionKey } from '../secret-key.ts';
import { examineStandbys } from './examine-standbys.ts';

type Environment = Parameters<typeof loadConfig>[0];

/**
 * Examines the configuration, the database and the work of the service, and changes nothing: no migration, no key. The service may run
 * or not; an embedded database that is stopped is started for the time of the checks. A check that needs something
 * that is broken is left out.
 */
export async function* examine(
  environment: Environment,
  clock: Clock = systemClock,
): AsyncGenerator<Finding> {
  let loaded: ReturnType<typeof loadConfig>;
  try {
    loaded = loadConfig(environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    yield problem(
      'configuration',
      error.message.replaceAll('\n', '; '),
      'Correct the settings: docs/configuration.md.',
    );
    return;
  }
  const { config, secrets } = loaded;
  yield ok('configuration', 'Every setting has the expected form.');
  yield judgeAddress(config);
  if (config.databaseUrl === undefined) yield* examineEmbedded(config, secrets, clock);
  else yield* examineExternal(config, secrets, clock);
}

function judgeAddress({ publicUrl }: Config): Finding {
  const { protocol, hostname } = new URL(publicUrl);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  return protocol === 'https:' || isLocal
    ? ok('PUBLIC_URL', publicUrl)
    : warning(
        'PUBLIC_URL',
        `${publicUrl} is not encrypted.`,
        'Put a proxy with TLS in front, and set PUBLIC_URL to its https address.',
      );
}

async function* examineEmbedded(config: Config, secrets: Secrets, clock: Clock): AsyncGenerator<Finding> {
  const { dataDir } = config;
  if (!existsSync(path.join(dataDir, 'secret.key')) && !existsSync(path.join(dataDir, 'postgres'))) {
    yield warning(
      'database',
      `There is no embedded database in ${dataDir} yet.`,
      'Start the service, or set DATABASE_URL.',
    );
    return;
  }
  const { bavail, blocks, bsize } = await statfs(dataDir);
  yield judgeDisk(dataDir, { freeBytes: bavail * bsize, bytes: blocks * bsize });
  let postgres: Awaited<ReturnType<typeof borrowEmbeddedPostgres>>;
  try {
    postgres = await borrowEmbeddedPostgres({ dataDir, log: () => {} });
  } catch (error) {
    yield problem('database', messageOf(error), 'Look in the log of the service for its start.');
    return;
  }
  try {
    const connection = { ...postgres.connection, user: embeddedLogin };
    yield* examineDatabase({ config, secrets, clock }, { connection, owner: postgres.connection });
  } finally {
    await postgres.stop();
  }
}

async function* examineExternal(config: Config, secrets: Secrets, clock: Clock): AsyncGenerator<Finding> {
  const { databaseUrl = '', migrationDatabaseUrl, allowUnverifiedDatabase } = config;
  const cure = 'docs/configuration.md describes the two logins and TLS.';
  const urls = {
    DATABASE_URL: databaseUrl,
    ...(migrationDatabaseUrl && { MIGRATION_DATABASE_URL: migrationDatabaseUrl }),
  };
  for (const [setting, url] of Object.entries(urls)) {
    const verified = await attempt('TLS', cure, async () => refuseUnverifiedUrl(url, setting));
    if (verified === undefined) yield ok('TLS', `${setting} verifies the server, or stays on this machine.`);
    else yield allowUnverifiedDatabase ? { ...verified, verdict: 'warning' } : verified;
    const pooled = await attempt(
      'connection',
      'Check the address, the login and the firewall; a pooler must be in session mode.',
      () => refuseTransactionPooling(url),
    );
    yield pooled ?? ok('connection', `${setting} reaches the server, and no pooler shares its sessions.`);
    if (pooled !== undefined && setting === 'DATABASE_URL') return;
  }
  yield* examineDatabase(
    { config, secrets, clock },
    { connection: databaseUrl, owner: migrationDatabaseUrl },
  );
}

interface Circumstances {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly clock: Clock;
}

interface Logins {
  readonly connection: string | SocketConnection;
  readonly owner: string | SocketConnection | undefined;
}

async function* examineDatabase(circumstances: Circumstances, logins: Logins): AsyncGenerator<Finding> {
  try {
    yield* examineReachable(circumstances, logins);
  } catch (error) {
    yield problem(
      'database',
      messageOf(error),
      'The later checks did not run. Cure this and run the command again.',
    );
  }
}

async function* examineReachable(
  { config, secrets, clock }: Circumstances,
  { connection, owner }: Logins,
): AsyncGenerator<Finding> {
  const state = await unappliedMigrations(owner ?? connection).catch((error) => {
    if (error instanceof DatabaseStartError)
      return problem('schema', error.message, 'Install the newest version of the service.');
    throw error;
  });
  if (!Array.isArray(state)) {
    yield state;
    return;
  }
  if (state.length > 0) {
    yield problem(
      'schema',
      `${state.length} migrations or functions are missing: ${state.slice(0, 5).join(', ')}.`,
      'Run "sharedraft migrate" as the owner of the database.',
    );
    return;
  }
  yield ok('schema', 'Every migration and function of this version is applied.');
  // One is kept for reads that share it, one for everything else.
  const database = new Database({ connection, maxConnections: 2 });
  try {
    const cure = 'docs/configuration.md describes the login of the service.';
    const unfit = await attempt('rights', cure, () =>
      refuseUnfitLogin(database, config.allowServingAsDatabaseOwner),
    );
    yield unfit ?? ok('rights', 'The login has the rights of the service and no more.');
    const other = await attempt('settings of the database', cure, () => refuseOtherSettings(database));
    yield other ?? ok('settings of the database', 'Sessions have the settings that the service sends.');
    const facts = await database.directory(selectDatabaseFacts);
    yield ok('server', `PostgreSQL ${facts.serverVersion}${facts.isEncrypted ? ', encrypted' : ''}.`);
    yield* judgeDatabase(facts, { clock: clock(), expectedIndexes: await indexesOfSchema() });
    yield judgeIndexBloat(await database.directory((db) => selectLargestIndexes(db)));
    if (config.databaseUrl !== undefined) yield judgeUnseenDisk(await database.directory(selectSpaceFacts));
    yield judgeReplication(await database.directory(selectReplicationFacts));
    if (config.standbyDatabaseUrl !== undefined) yield* examineStandbys(config, database);
    yield* examineKeys({ config, secrets, clock }, database);
    yield* judgeWork(await database.directory((db) => selectOperationalFigures(db, clock())));
    yield* judgeMoves(await database.directory(selectMoveTraces));
    yield* examineDirectory({ config, secrets, clock }, database);
    yield* examineInstitutions(database, clock);
  } finally {
    await database.close();
  }
}

async function* examineKeys(
  { config, secrets, clock }: Circumstances,
  database: Database,
): AsyncGenerator<Finding> {
  const facts = await database.directory((db) => selectKeyFacts(db, clock()));
  yield judgeKey(facts, clock(), config.signingKeyDays);
  // Reading the keys of a database without one would make the first.
  if (facts.keys === 0) return;
  try {
    const current = await keyEncryptionKey(config, secrets);
    const vault = await openVault(database, { current, other: secrets.otherKey }, { mayWrite: false });
    await new SigningKeys(database, vault, clock, { rotationDays: config.signingKeyDays }).signer();
    if (vault.isHashingKeyLost) throw new DecryptionError('the key of stored hashes');
    yield ok('SECRET_KEY', 'It opens the signing keys.');
    if (secrets.otherKey !== undefined)
      yield judgeOtherKey(await countOtherSecrets({ database, vault, clock }));
  } catch (error) {
    if (!(error instanceof DecryptionError || error instanceof ConfigError)) throw error;
    yield problem(
      'SECRET_KEY',
      'It does not open the signing keys of this database.',
      'Set the key of before. If it is lost, see "Changing SECRET_KEY" in docs/security.md.',
    );
  }
}

/** Compares this cell with the directory of the cells, by a publication that is undone. */
async function* examineDirectory(
  { config, secrets, clock }: Circumstances,
  database: Database,
): AsyncGenerator<Finding> {
  if (config.directoryDatabaseUrl === undefined) return;
  const check = 'directory of the cells';
  let directory: CellDirectory | undefined;
  try {
    const current = await keyEncryptionKey(config, secrets);
    const vault = await openVault(database, { current, other: secrets.otherKey }, { mayWrite: false });
    const cell = await database.directory(async (db) => {
      directory = await openDirectory(config, { db, clock, origin: ownOrigin() });
      return readPublication(db, { publicUrl: config.publicUrl, vault, clock });
    });
    if (directory === undefined || cell === undefined) {
      yield problem(check, 'This database is no cell.', 'Run "sharedraft cell set": docs/cells.md.');
      return;
    }
    const { own, publication } = cell;
    await directory.requireFitLogin();
    const { changes, conflicts } = await directory.publish(own, publication, { isTrial: true });
    for (const conflict of conflicts)
      yield problem(check, conflict, 'See "When the directory is wrong" in docs/cells.md.');
    if (changes > 0)
      yield warning(check, `${changes} names or keys are not published.`, 'Run "sharedraft cell publish".');
    if (changes + conflicts.length === 0) yield ok(check, 'It has what this cell has.');
    for (const { name, program } of await directory.listCells())
      if (program !== own.program)
        yield warning(
          check,
          `The cell "${name}" has version ${program}, and this is ${own.program}.`,
          'No institution moves between them. Bring both to the same version.',
        );
  } catch (error) {
    const isAway = error instanceof Problem && error.code === 'database_unavailable';
    const detail = isAway ? `The directory cannot be reached: ${messageOf(error.cause)}` : messageOf(error);
    yield problem(check, detail, 'This cell serves its own institutions meanwhile: docs/cells.md.');
  } finally {
    await directory?.close();
  }
}

async function* examineInstitutions(database: Database, clock: Clock): AsyncGenerator<Finding> {
  const institutions = await database.directory(listInstitutions);
  if (institutions.length === 0)
    yield warning(
      'institutions',
      'There is none.',
      'Run "sharedraft institution create", or import an extract.',
    );
  for (const { institutionId, code } of institutions) {
    const facts = await database.read(institutionId, selectInstitutionFacts);
    yield* judgeInstitution(code, facts, clock());
  }
}

/** The names of the indexes in schema.sql, apart from those of constraints, which no one drops by accident. */
async function indexesOfSchema(): Promise<string[]> {
  const schema = await readFile(path.join(repositoryRoot, 'schema.sql'), 'utf8');
  return [...schema.matchAll(/^CREATE (?:UNIQUE )?INDEX (\w+) ON/gm)].map(([, name = '']) => name);
}

/** The problem that a check of the start reports; undefined if it passes. */
async function attempt(check: string, cure: string, work: () => Promise<void>): Promise<Finding | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return problem(check, messageOf(error), cure);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
