import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import { restore } from '../../app/backup/backup.ts';
import { loadConfig, readEnvironment } from '../../app/config.ts';
import { say } from '../command.ts';
import { systemOperator } from '../operator.ts';

export function restoreCommand(): Command {
  return new Command('restore')
    .description('create the embedded database from a backup; DATA_DIR must have none')
    .argument('<folder>', 'a folder that the command backup has made')
    .action(async (folder: string) => {
      const { config, secrets } = loadConfig(await readEnvironment());
      const origin = { transactionId: randomUUID(), address: null, operator: systemOperator(config) };
      const { takenAt } = await restore(config, secrets, { folder, origin });
      say(`${config.dataDir} has the state of ${takenAt}. Readers of later events are told to read again.`);
      say('Now run "sharedraft reconcile" and "sharedraft audit verify", then start the service.');
      say('Locks, revocations and rotations since then are undone: see docs/operations.md.');
    });
}
