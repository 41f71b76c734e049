import { type CellDirectory, DirectoryRefusedError } from '../../cell-directory/index.ts';
import { closeMovedSince, findMovedSince, readPublication } from '../../cells/index.ts';
import { selectTimeline } from '../../events/index.ts';
import { findCell, markCompared } from '../../institutions/index.ts';
import { type Repeated, repeatedly } from '../../shared/process/repeatedly.ts';
import type { Database } from '../../storage/index.ts';
import type { AppContext } from '../context.ts';
import type { Log } from '../service-log.ts';
import { ServiceStartError } from '../start-checks.ts';

const publishMillis = 10_000;

type PublishDeps = Pick<AppContext, 'database' | 'directory' | 'directoryState' | 'auth' | 'clock'>;

/**
 * Compares this cell with the directory, and adds what is missing there. Throws ServiceStartError for a cell that does not fit the others, or
 * that would serve an institution of another one. A directory that is away is logged: the cell serves its own institutions without it,
 * unless its database may have been restored since both were compared.
 */
export async function publishAtStart(context: PublishDeps, log: Log): Promise<void> {
  if (context.directory === undefined) return;
  try {
    const timeline = await context.database.directory(selectTimeline);
    await refuseMovedSince(context.database, context.directory);
    await context.database.directory((db) => markCompared(db, timeline));
    await publishOnce(context, log);
  } catch (error) {
    if (error instanceof ServiceStartError) throw error;
    if (error instanceof DirectoryRefusedError) throw new ServiceStartError(error.message);
    await refuseUncompared(context.database);
    log('directory_not_published', { error });
  }
}

/** A restore from a base backup, a log or a dump, and each promotion, gives the database another timeline or cluster. */
async function refuseUncompared(database: Database): Promise<void> {
  const [cell, timeline] = await database.directory((db) => Promise.all([findCell(db), selectTimeline(db)]));
  if (cell === undefined || cell.comparedTimeline === timeline) return;
  throw new ServiceStartError(
    'The directory of the cells cannot be reached, and this database was restored or promoted since both were last compared, so an institution may have moved meanwhile. Start again when the directory is back. If you know that nothing was restored, start without DIRECTORY_DATABASE_URL until then.',
  );
}

async function refuseMovedSince(database: Database, directory: CellDirectory): Promise<void> {
  const [moved] = await findMovedSince((work) => database.directory(work), directory);
  if (moved === undefined) return;
  const { code, cell, isLater } = moved;
  if (isLater)
    throw new ServiceStartError(
      `This cell has "${code}" as its own, and the directory knows that it has moved to the cell "${cell}" since: this database was restored to a moment before. Run "sharedraft restored".`,
    );
  throw new ServiceStartError(
    `This cell has "${code}" as its own, and the directory says that the cell "${cell}" serves it. If this database was restored from a backup, run "sharedraft restored"; if the directory is wrong, run "sharedraft cell publish --take ${code}".`,
  );
}

/**
 * The same six times a minute, in every process: a name that a command could not publish is missing for ten seconds, and a database that
 * is restored under a running process serves an institution that has moved for no longer.
 */
export function startPublishing(context: PublishDeps, log: Log): Repeated {
  const { directory } = context;
  const onError = (error: unknown) => log('directory_not_published', { error });
  const work = async () => {
    if (directory === undefined) return;
    await compareOnce(context, directory, log);
    await directory.forgetChanges();
  };
  return repeatedly(work, { everyMillis: publishMillis, onError });
}

/** Closes institutions that moved since the moment of this database, and publishes the rest. */
export async function compareOnce(context: PublishDeps, directory: CellDirectory, log: Log): Promise<void> {
  const { database, directoryState, clock } = context;
  const timeline = await database.directory(selectTimeline);
  const moved = await closeMovedSince(database, directory, clock).catch((error) => {
    directoryState.isReached = false;
    throw error;
  });
  const closed = moved.filter(({ isLater }) => isLater);
  for (const { code, cell } of closed) log('institution_closed', { code, cell });
  if (closed.length === moved.length) await database.directory((db) => markCompared(db, timeline));
  await publishOnce(context, log);
}

async function publishOnce(context: PublishDeps, log: Log): Promise<void> {
  const { database, directory, directoryState: state, auth } = context;
  if (directory === undefined) return;
  try {
    const { issuer: publicUrl, vault, clock } = auth;
    // The first key of a database signs at once, so it is made before the others ask for it.
    await auth.keys.published();
    const cell = await database.directory((db) => readPublication(db, { publicUrl, vault, clock }));
    if (cell === undefined)
      throw new DirectoryRefusedError(
        'DIRECTORY_DATABASE_URL is set, and this database is no cell yet. Run "sharedraft cell set" first.',
      );
    const { own, publication } = cell;
    const { providers } = publication;
    state.issuers = new Map(providers.map(({ issuer, institutionId }) => [issuer, institutionId]));
    const { changes, conflicts, keysOfOthers } = await directory.publish(own, publication);
    if (changes > 0) log('directory_published', { changes });
    // A move between two looks is no conflict.
    for (const conflict of conflicts)
      if (state.conflicts.includes(conflict)) log('directory_conflict', { error: new Error(conflict) });
    state.conflicts = conflicts;
    state.keysOfOthers = keysOfOthers;
    state.isReached = true;
  } catch (error) {
    state.isReached = false;
    throw error;
  }
}
