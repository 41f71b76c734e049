import { randomUUID } from 'node:crypto';
import { openDirectory } from '../app/cells/open-directory.ts';
import { loadConfig, readEnvironment } from '../app/config.ts';
import { type AppContext, openAppContext } from '../app/context.ts';
import { keyEncryptionKey } from '../app/secret-key.ts';
import { refuseOtherSecretKey } from '../app/start-checks.ts';
import { type CellDirectory, DirectoryRefusedError } from '../cell-directory/index.ts';
import {
  describeSettings,
  type MoveDeps,
  MoveRefusedError,
  nameAway,
  openSide,
  type Side,
  SideAwayError,
} from '../cells/index.ts';
import type { CommandOrigin } from '../events/index.ts';
import { refuseUnverifiedUrl, systemClock } from '../storage/index.ts';
import { CommandError, withContext } from './command.ts';
import { systemOperator } from './operator.ts';

/** Connections of the commands of cells: the owner's login of this database, and that of the other cell. */
export interface CellRun extends Pick<MoveDeps, 'clock' | 'origin' | 'secrets' | 'directory'> {
  readonly own: Side;
  /** Facts that this cell shares with the others of its directory. */
  readonly common: Awaited<ReturnType<typeof describeSettings>>;
  /** Throws CommandError without CELL_DATABASE_URL. */
  other(): Promise<Side>;
}

/** Opens this database as every command does, which migrates it and compares SECRET_KEY, and then the owner's own connection. */
export async function withCell(work: (run: CellRun) => Promise<void>): Promise<void> {
  const { config, secrets } = loadConfig(await readEnvironment());
  const { databaseUrl, migrationDatabaseUrl = databaseUrl, cellDatabaseUrl } = config;
  if (migrationDatabaseUrl === undefined)
    throw new CommandError(
      'This needs a PostgreSQL of its own, not the embedded one: set DATABASE_URL and MIGRATION_DATABASE_URL.',
    );
  const origin: CommandOrigin = {
    transactionId: randomUUID(),
    address: null,
    operator: systemOperator(config),
  };
  const thisCell = "This cell's database (MIGRATION_DATABASE_URL or DATABASE_URL)";
  const context = await openAppContext(config, secrets, 'borrow', () => {}, systemClock, origin).catch(
    (error) => {
      throw asCommandError(nameAway(error, thisCell));
    },
  );
  let common: CellRun['common'];
  try {
    await refuseOtherSecretKey(context);
    common = await describeSettings({ publicUrl: config.publicUrl, vault: context.auth.vault });
  } finally {
    await context.close();
  }
  const current = await keyEncryptionKey(config, secrets);
  const open: Side[] = [];
  const openOne = async (url: string, called: string) => {
    const side = await openSide(url, called);
    open.push(side);
    return side;
  };
  let directory: CellDirectory | undefined;
  try {
    const own = await openOne(migrationDatabaseUrl, thisCell);
    directory = await openDirectory(config, { db: own.db, clock: systemClock, origin });
    await work({
      own,
      common,
      directory,
      other: async () => {
        if (cellDatabaseUrl === undefined)
          throw new CommandError(
            "Set CELL_DATABASE_URL to the other cell's database, with a login that may move.",
          );
        if (!config.allowUnverifiedDatabase) refuseUnverifiedUrl(cellDatabaseUrl, 'CELL_DATABASE_URL');
        return openOne(cellDatabaseUrl, 'The database of the other cell (CELL_DATABASE_URL)');
      },
      clock: systemClock,
      origin,
      secrets: { current, other: secrets.otherKey },
    });
  } catch (error) {
    throw asCommandError(error);
  } finally {
    await directory?.close();
    for (const side of open) await side.close();
  }
}

/** Commands that work on the directory alone, beside this cell. Throws CommandError without DIRECTORY_DATABASE_URL. */
export async function withDirectory(
  work: (context: AppContext, directory: CellDirectory) => Promise<void>,
): Promise<void> {
  await withContext(async (context) => {
    if (context.directory === undefined) throw new CommandError('Set DIRECTORY_DATABASE_URL: docs/cells.md.');
    await work(context, context.directory).catch((error) => {
      throw asCommandError(error);
    });
  });
}

function asCommandError(error: unknown): unknown {
  const isForOperator = [MoveRefusedError, DirectoryRefusedError, SideAwayError].some(
    (kind) => error instanceof kind,
  );
  return isForOperator ? new CommandError((error as Error).message) : error;
}
