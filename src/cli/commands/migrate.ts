import { Command } from 'commander';
import { loadConfig, readEnvironment } from '../../app/config.ts';
import { migrateDatabase } from '../../app/context.ts';
import { say } from '../command.ts';

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('migrate the database to the schema of this program; serve does so too')
    .action(async () => {
      await migrateDatabase(loadConfig(await readEnvironment()).config);
      say('The database has the schema of this program.');
    });
}
