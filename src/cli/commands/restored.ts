import { Command } from 'commander';
import { letGoOfMoved } from '../../cells/index.ts';
import { beginEpoch } from '../../events/index.ts';
import { listInstitutions } from '../../institutions/index.ts';
import { withCell } from '../cell-sides.ts';
import { say, withContext } from '../command.ts';

export function restoredCommand(): Command {
  return new Command('restored')
    .description(
      'declare that the database was restored to an earlier state, so that readers of its events are told',
    )
    .action(async () => {
      await withContext(async ({ database, clock, directory }, origin) => {
        if (directory !== undefined) await letGoOfMovedInstitutions();
        for (const { institutionId, code } of await database.directory(listInstitutions)) {
          await beginEpoch(database, institutionId, clock, origin);
          say(`${code}: readers of undone events get an error and read the feed again.`);
        }
        say('Locks, revocations and rotations since then are undone: see docs/operations.md.');
      });
    });
}

/** Institutions of a cell that moved since the moment of the backup are served where they are now. */
async function letGoOfMovedInstitutions(): Promise<void> {
  await withCell(async ({ own, directory, clock, origin }) => {
    if (directory === undefined) return;
    for (const { code, cell } of await letGoOfMoved({ own, directory, clock, origin }))
      say(`${code}: the cell "${cell}" serves it since, and this cell no longer does.`);
  });
}
