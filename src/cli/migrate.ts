import { Command } from 'commander';
import { say, withStores } from './command.ts';

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('bring the database to the schema of this program; serving does so too')
    .action(async () => {
      // Opening the stores migrates.
      await withStores(async () => say('The database is at the schema of this program.'));
    });
}
