import type { CellDirectory, PlacedElsewhere } from '../cell-directory/index.ts';
import { appendAudit, type CommandOrigin, ownOrigin, wholeService } from '../events/index.ts';
import {
  closeMovedInstitution,
  findCell,
  findInstitution,
  listAllInstitutions,
  updateServed,
} from '../institutions/index.ts';
import type { Clock, Database, Directory } from '../storage/index.ts';
import { buildFence, closeFence } from './fence.ts';
import { of, type Side } from './side.ts';
import { listTables } from './tables.ts';

/*
 * A cell that was restored to a moment before a move has the institution as its own again. Two cells that serve it would take the same
 * money twice, so this one neither starts nor goes on with it. The number of moves tells it from a directory that was restored (ADR 75).
 */

/** An institution that this database has as its own, and that the directory places in another cell. */
export interface MovedSince extends PlacedElsewhere {
  /** The directory knows a later move than this database. Otherwise one of the two is wrong, and nobody knows which. */
  readonly isLater: boolean;
}

export async function findMovedSince(
  read: <T>(work: (db: Directory) => Promise<T>) => Promise<T>,
  directory: CellDirectory,
): Promise<MovedSince[]> {
  const cell = await read(findCell);
  if (cell === undefined) return [];
  // One that is leaving has not been let go: the backup is from within its move.
  const own = async () =>
    new Map(
      (await read(listAllInstitutions))
        .filter(({ served }) => served === 'here' || served === 'leaving')
        .map(({ institutionId, moves }) => [institutionId, moves]),
    );
  const elsewhere = await directory.listElsewhere(cell.name, [...(await own()).keys()]);
  // A move lets go before it changes the directory: one that ended between both questions is no contradiction.
  const still = elsewhere.length > 0 ? await own() : new Map<never, never>();
  return elsewhere.flatMap((placed) => {
    const moves = still.get(placed.institutionId);
    return moves === undefined ? [] : [{ ...placed, isLater: placed.moves > moves }];
  });
}

/**
 * Closes the institutions of which the directory knows a later move than this database, for a process that runs while its database is
 * restored, or that started without the directory. Every process learns of it as of a move. Returns these, and those that one of the two
 * has wrong.
 */
export async function closeMovedSince(
  database: Database,
  directory: CellDirectory,
  clock: Clock,
): Promise<MovedSince[]> {
  const found = await findMovedSince((work) => database.directory(work), directory);
  for (const { institutionId, code, cell, moves, isLater } of found) {
    if (!isLater) continue;
    await database.transaction(wholeService, async (tx) => {
      // Another process may have been faster.
      if (!(await closeMovedInstitution(tx, institutionId, { cell, moves }))) return;
      await appendAudit(tx, { ...leftEntry(code, cell), origin: ownOrigin() }, clock());
    });
  }
  return found;
}

const leftEntry = (code: string, cell: string) =>
  ({ action: 'institution.left', outcome: 'succeeded', subject: code, after: { to: cell } }) as const;

interface RestoredDeps {
  readonly own: Side;
  readonly directory: CellDirectory;
  readonly clock: Clock;
  readonly origin: CommandOrigin;
}

/** Closes the institutions that moved since the moment of the backup, as their moves did. Returns them. */
export async function letGoOfMoved({
  own,
  directory,
  clock,
  origin,
}: RestoredDeps): Promise<PlacedElsewhere[]> {
  const { db } = own;
  const moved = await findMovedSince((work) => work(db), directory);
  const tables = await listTables(db);
  // A service that closed one by itself has built no fence, which needs the owner.
  await buildFence(
    db,
    tables,
    moved.map(({ institutionId }) => institutionId),
  );
  for (const { institutionId, code, cell } of moved) {
    await closeFence(db, institutionId, async () => {
      if ((await findInstitution(db, institutionId))?.served === 'here')
        await updateServed(db, institutionId, { served: 'leaving', otherCell: cell });
      await updateServed(db, institutionId, { served: 'left', otherCell: cell });
      await appendAudit(of(own, wholeService), { ...leftEntry(code, cell), origin }, clock());
    });
  }
  return moved;
}
