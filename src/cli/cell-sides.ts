import { randomUUID } from 'node:crypto';
import { loadConfig, readEnvironment } from '../app/config.ts';
import { openAppContext } from '../app/context.ts';
import { keyEncryptionKey } from '../app/secret-key.ts';
import { refuseOtherSecretKey } from '../app/start-checks.ts';
import { type MoveDeps, MoveRefusedError, openSide, type Side } from '../cells/index.ts';
import type { CommandOrigin } from '../events/index.ts';
import { refuseUnverifiedUrl, systemClock } from '../storage/index.ts';
import { CommandError } from './command.ts';
import { systemOperator } from './operator.ts';

/** Connections of the commands of cells: the owner's login of this database, and that of the other cell. */
export interface CellRun extends Pick<MoveDeps, 'clock' | 'origin' | 'secrets'> {
  readonly own: Side;
  /** Throws CommandError without CELL_DATABASE_URL. */
  other(): Promise<Side>;
}

/** Opens this database as every command does, which migrates it and compares SECRET_KEY, and then the owner's own connection. */
export async function withCell(work: (run: CellRun) => Promise<void>): Promise<void> {
  const { config, secrets } = loadConfig(await readEnvironment());
  const { databaseUrl, migrationDatabaseUrl = databaseUrl, cellDatabaseUrl } = config;
  if (migrationDatabaseUrl === undefined)
    throw new CommandError(
      'A cell needs a PostgreSQL of its own: set DATABASE_URL and MIGRATION_DATABASE_URL.',
    );
  const origin: CommandOrigin = {
    transactionId: randomUUID(),
    address: null,
    operator: systemOperator(config),
  };
  const context = await openAppContext(config, secrets, 'borrow', () => {}, systemClock, origin);
  try {
    await refuseOtherSecretKey(context);
  } finally {
    await context.close();
  }
  const current = await keyEncryptionKey(config, secrets);
  const open: Side[] = [];
  const openOne = async (url: string) => {
    const side = await openSide(url);
    open.push(side);
    return side;
  };
  try {
    await work({
      own: await openOne(migrationDatabaseUrl),
      other: async () => {
        if (cellDatabaseUrl === undefined)
          throw new CommandError(
            "Set CELL_DATABASE_URL to the other cell's database, with a login that may move.",
          );
        if (!config.allowUnverifiedDatabase) refuseUnverifiedUrl(cellDatabaseUrl, 'CELL_DATABASE_URL');
        return openOne(cellDatabaseUrl);
      },
      clock: systemClock,
      origin,
      secrets: { current, other: secrets.otherKey },
    });
  } catch (error) {
    throw error instanceof MoveRefusedError ? new CommandError(error.message) : error;
  } finally {
    for (const side of open) await side.close();
  }
}
