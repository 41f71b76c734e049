import { Command } from 'commander';
import { loadConfig, readEnvironment } from '../app/config.ts';
import { migrateDatabase } from '../app/context.ts';
import { say } from './command.ts';

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('bring the database to the schema of this program; serving does so too')
    .action(async () => {
      await migrateDatabase(loadConfig(await readEnvironment()).config);
      say('The database is at the schema of this program.');
    });
}
