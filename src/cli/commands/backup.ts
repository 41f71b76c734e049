import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import { backUp } from '../../app/backup/backup.ts';
import { loadConfig, readEnvironment } from '../../app/config.ts';
import { say } from '../command.ts';
import { systemOperator } from '../operator.ts';

interface Options {
  readonly withSecretKey?: true;
}

export function backupCommand(): Command {
  return new Command('backup')
    .description('copy the embedded database into a new folder, while the service runs or not')
    .argument('<folder>', 'a new folder; it gets its name when the backup is complete')
    .option('--with-secret-key', 'also copy secret.key, which opens the data: then encrypt the folder')
    .action(async (folder: string, options: Options) => {
      const withSecretKey = options.withSecretKey === true;
      const { config } = loadConfig(await readEnvironment());
      const origin = { transactionId: randomUUID(), address: null, operator: systemOperator(config) };
      const { manifest, isAudited } = await backUp(config, { folder, withSecretKey, origin });
      say(`${folder}: ${manifest.archive.bytes} bytes, the state at ${manifest.takenAt}.`);
      if (!withSecretKey)
        say('The key is not in it: keep a copy of secret.key, or of SECRET_KEY, elsewhere.');
      if (!isAudited)
        say('The audit has no entry: the database waits for the migrations of this version of the program.');
    });
}
