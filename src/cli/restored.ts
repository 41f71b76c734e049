import { Command } from 'commander';
import { beginEpoch } from '../events/index.ts';
import { listInstitutions } from '../institutions/index.ts';
import { say, withStores } from './command.ts';

export function restoredCommand(): Command {
  return new Command('restored')
    .description(
      'say that the database was put back to an earlier state, so that whoever reads its events learns of it',
    )
    .action(async () => {
      await withStores(async ({ database, clock }, origin) => {
        for (const { institutionId, code } of await database.directory(listInstitutions)) {
          await beginEpoch(database, institutionId, clock, origin);
          say(`${code}: whoever had read events that were undone is told so, and reads again.`);
        }
        say('What was locked, revoked or rotated since is as it was before: see docs/operations.md.');
      });
    });
}
