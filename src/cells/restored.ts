import type { CellDirectory, PlacedElsewhere } from '../cell-directory/index.ts';
import { appendAudit, type CommandOrigin, wholeService } from '../events/index.ts';
import { findCell, findInstitution, listAllInstitutions, updateServed } from '../institutions/index.ts';
import type { Clock, Directory } from '../storage/index.ts';
import { buildFence, closeFence } from './fence.ts';
import { of, type Side } from './side.ts';
import { listTables } from './tables.ts';

/*
 * A cell that was restored to a moment before a move has the institution as its own again. Two cells that serve it would take the same
 * money twice, so this one neither starts nor goes on with it.
 */

/** The institutions that this database has as its own, and that the directory places in another cell. */
export async function findMovedSince(
  read: <T>(work: (db: Directory) => Promise<T>) => Promise<T>,
  directory: CellDirectory,
): Promise<PlacedElsewhere[]> {
  const cell = await read(findCell);
  if (cell === undefined) return [];
  // One that is leaving has not been let go: the backup is from within its move.
  const own = async () =>
    (await read(listAllInstitutions))
      .filter(({ served }) => served === 'here' || served === 'leaving')
      .map(({ institutionId }) => institutionId);
  const elsewhere = await directory.listElsewhere(cell.name, await own());
  // A move lets go before it changes the directory: one that ended between both questions is no contradiction.
  const still = new Set(elsewhere.length > 0 ? await own() : []);
  return elsewhere.filter(({ institutionId }) => still.has(institutionId));
}

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
  for (const { institutionId, code, cell } of moved) {
    await buildFence(db, tables, [institutionId]);
    await closeFence(db, institutionId, async () => {
      if ((await findInstitution(db, institutionId))?.served === 'here')
        await updateServed(db, institutionId, { served: 'leaving', otherCell: cell });
      await updateServed(db, institutionId, { served: 'left', otherCell: cell });
      const entry = { action: 'institution.left', outcome: 'succeeded', subject: code } as const;
      await appendAudit(of(own, wholeService), { ...entry, after: { to: cell }, origin }, clock());
    });
  }
  return moved;
}
