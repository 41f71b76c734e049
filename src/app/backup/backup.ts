import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { constants, copyFile, mkdir, mkdtemp, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import {
  archiveName,
  borrowEmbeddedPostgres,
  restoreEmbeddedPostgres,
  takeBaseBackup,
} from '../../embedded-postgres/index.ts';
import { appendAudit, type Origin, wholeService } from '../../events/index.ts';
import { programVersion } from '../../shared/process/program-version.ts';
import {
  Database,
  DatabaseStartError,
  embeddedLogin,
  type SocketConnection,
  systemClock,
  unappliedMigrations,
} from '../../storage/index.ts';
import type { Config, Secrets } from '../config.ts';
import { openAppContext } from '../context.ts';
import { refuseOtherSecretKey } from '../start-checks.ts';

/*
 * A backup of the embedded database is a folder:
 *
 * | file            | content                                                                      |
 * |-----------------|------------------------------------------------------------------------------|
 * | base.tar        | the server's files and the log that makes them consistent                     |
 * | backup_manifest | the server's list of the files, for pg_verifybackup                           |
 * | secret.key      | only if asked for                                                             |
 * | backup.json     | the size and the hash of base.tar; written last, so that its presence counts   |
 *
 * The folder has another name until all of it is on the disk.
 */

const manifestName = 'backup.json';
const keyName = 'secret.key';

export interface BackupManifest {
  readonly version: string;
  readonly takenAt: string;
  readonly startLsn: string;
  readonly endLsn: string;
  readonly archive: { readonly bytes: number; readonly sha256: string };
}

export interface BackupResult {
  readonly manifest: BackupManifest;
  /** False if the database has an older schema than this program, whose audit it cannot write. */
  readonly isAudited: boolean;
}

/**
 * Copies the embedded database into a new folder while it serves, and applies no migration: a backup comes before an upgrade. Throws
 * DatabaseStartError.
 */
export async function backUp(
  config: Config,
  given: { readonly folder: string; readonly withSecretKey: boolean; readonly origin: Origin },
): Promise<BackupResult> {
  refuseExternal(config);
  const { dataDir } = config;
  const target = path.resolve(given.folder);
  const keyFile = path.join(dataDir, keyName);
  if (!existsSync(dataDir)) throw new DatabaseStartError(`There is no embedded database in ${dataDir}.`);
  if (existsSync(target)) throw new DatabaseStartError(`${target} exists. Name a new folder for the backup.`);
  if (given.withSecretKey && !existsSync(keyFile)) {
    throw new DatabaseStartError(
      `There is no ${keyFile}: the key comes from SECRET_KEY. Leave --with-secret-key out, and keep a copy of the key.`,
    );
  }
  await mkdir(path.dirname(target), { recursive: true });
  const unfinished = await mkdtemp(`${target}.unfinished-`);
  const postgres = await borrowEmbeddedPostgres({ dataDir, log: () => {} });
  try {
    const base = await takeBaseBackup(postgres.connection, unfinished);
    if (given.withSecretKey) await copyKey(keyFile, path.join(unfinished, keyName));
    const manifest = { version: programVersion, takenAt: systemClock().toISOString(), ...base };
    await writeFile(path.join(unfinished, manifestName), `${JSON.stringify(manifest, null, 2)}\n`, {
      mode: 0o600,
      flush: true,
    });
    await syncFolder(unfinished);
    await rename(unfinished, target);
    await syncFolder(path.dirname(target));
    const after = { folder: target, endLsn: base.endLsn, withSecretKey: given.withSecretKey };
    const isAudited = await auditBackup(postgres.connection, given.origin, after);
    return { manifest, isAudited };
  } finally {
    await postgres.stop();
    await rm(unfinished, { recursive: true, force: true });
  }
}

async function auditBackup(connection: SocketConnection, origin: Origin, after: object): Promise<boolean> {
  if ((await unappliedMigrations(connection)).length > 0) return false;
  const database = new Database({ connection: { ...connection, user: embeddedLogin }, maxConnections: 1 });
  try {
    const entry = { action: 'database.backed_up', outcome: 'succeeded', origin, after } as const;
    await database.transaction(wholeService, (tx) => appendAudit(tx, entry, systemClock()));
    return true;
  } finally {
    await database.close();
  }
}

/**
 * Creates the embedded database of `config` from a backup. Throws DatabaseStartError if there is a database already, or if the backup is
 * incomplete or was changed.
 */
export async function restore(
  config: Config,
  secrets: Secrets,
  given: { readonly folder: string; readonly origin: Origin },
): Promise<BackupManifest> {
  refuseExternal(config);
  const { dataDir } = config;
  const manifest = await verifyBackup(given.folder);
  if (existsSync(path.join(dataDir, 'postgres')) || existsSync(path.join(dataDir, 'database-is-in'))) {
    throw new DatabaseStartError(
      `There is a database in ${dataDir} already. Set DATA_DIR to a new folder, or move that one away.`,
    );
  }
  if (secrets.keyEncryptionKey === undefined) await restoreKey(given.folder, dataDir);
  await restoreEmbeddedPostgres({ dataDir, log: () => {} }, path.join(given.folder, archiveName));
  const context = await openAppContext(config, secrets, 'borrow', () => {}, systemClock, given.origin);
  try {
    await refuseOtherSecretKey(context);
    const { takenAt, endLsn } = manifest;
    const after = { takenAt, endLsn };
    const entry = { action: 'database.restored', outcome: 'succeeded', origin: given.origin, after } as const;
    await context.database.transaction(wholeService, (tx) => appendAudit(tx, entry, systemClock()));
  } finally {
    await context.close();
  }
  return manifest;
}

/** Throws DatabaseStartError unless the folder is a complete backup whose archive has the size and hash of its manifest. */
async function verifyBackup(folder: string): Promise<BackupManifest> {
  const text = await readFile(path.join(folder, manifestName), 'utf8').catch(
    (error: NodeJS.ErrnoException) => {
      throw new DatabaseStartError(
        `${folder} is no complete backup: ${manifestName} cannot be read (${error.code}).`,
      );
    },
  );
  const manifest: BackupManifest = JSON.parse(text);
  const sum = createHash('sha256');
  await pipeline(createReadStream(path.join(folder, archiveName)), sum).catch(
    (error: NodeJS.ErrnoException) => {
      throw new DatabaseStartError(`${folder}: ${archiveName} cannot be read (${error.code}).`);
    },
  );
  if (sum.digest('hex') !== manifest.archive?.sha256) {
    throw new DatabaseStartError(
      `${folder}: ${archiveName} is not as it was written. Nothing was restored; take another backup.`,
    );
  }
  return manifest;
}

/** The key stays if it is in the folder already: a restore that was interrupted runs again. */
async function restoreKey(folder: string, dataDir: string): Promise<void> {
  const [kept, target] = [path.join(folder, keyName), path.join(dataDir, keyName)];
  if (existsSync(target)) {
    if (!existsSync(kept) || (await readFile(kept)).equals(await readFile(target))) return;
    throw new DatabaseStartError(`${target} is not the key of the backup. Move it away, or set DATA_DIR.`);
  }
  if (!existsSync(kept)) {
    throw new DatabaseStartError(
      `The backup has no ${keyName}. Put the file into ${dataDir} (mode 600), or set SECRET_KEY; without the key the data is of no use.`,
    );
  }
  await mkdir(dataDir, { recursive: true, mode: 0o755 });
  await copyKey(kept, target);
}

async function copyKey(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL);
  await using file = await open(to, 'r+');
  await file.chmod(0o600);
  await file.sync();
}

/** Makes the names of a folder durable. */
async function syncFolder(folder: string): Promise<void> {
  await using opened = await open(folder);
  await opened.sync();
}

function refuseExternal({ databaseUrl }: Config): void {
  if (databaseUrl === undefined) return;
  throw new DatabaseStartError(
    'backup and restore are for the embedded database. Back up your own server with its tools: see "Backing up" in docs/operations.md.',
  );
}
