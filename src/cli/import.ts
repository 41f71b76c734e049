import { Command } from 'commander';
import { importExtract } from '../core/index.ts';
import { say, withStores } from './command.ts';

export function importCommand(): Command {
  return new Command('import')
    .description("bring in a core's extract: a folder of CSV files as examples/README.md describes them")
    .argument('<folder>', 'the extract')
    .option(
      '--adjust-balances',
      'also bring the balances of accounts that exist already to those of the extract',
    )
    .action(async (folder: string, options: { adjustBalances?: boolean }) => {
      await withStores(async (stores, origin) => {
        const report = await importExtract(stores, folder, {
          adjustBalances: options.adjustBalances === true,
          origin,
          onProgress: (done, of) => process.stderr.write(`\r${done} of ${of} members `),
        });
        process.stderr.write('\n');
        say(
          `${report.institution.name}: ${report.persons} persons, ${report.members} members, ${report.accounts} accounts; ` +
            `${report.openedAccounts} opened with a balance, ${report.adjustedAccounts} adjusted.`,
        );
      });
    });
}
