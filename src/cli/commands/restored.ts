import { Command } from 'commander';
import { beginEpoch } from '../../events/index.ts';
import { listInstitutions } from '../../institutions/index.ts';
import { say, withContext } from '../command.ts';

export function restoredCommand(): Command {
  return new Command('restored')
    .description(
      'declare that the database was restored to an earlier state, so that readers of its events are told',
    )
    .action(async () => {
      await withContext(async ({ database, clock }, origin) => {
        for (const { institutionId, code } of await database.directory(listInstitutions)) {
          await beginEpoch(database, institutionId, clock, origin);
          say(`${code}: readers of undone events get an error and read the feed again.`);
        }
        say('Locks, revocations and rotations since then are undone: see docs/operations.md.');
      });
    });
}
