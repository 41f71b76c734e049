import { Command, InvalidArgumentError } from 'commander';
import {
  type Change,
  type ImportPlan,
  ImportRefused,
  importExtract,
  parseMoment,
} from '../core-system/index.ts';
import { CommandFailed, say, withStores } from './command.ts';
import { progressTo } from './progress.ts';

interface Options {
  readonly adjustBalances?: boolean;
  readonly asOf?: Date;
  readonly allowRemovals?: boolean;
  readonly dryRun?: boolean;
}

export function importCommand(): Command {
  return new Command('import')
    .description("bring in a core's extract: a folder of CSV files as examples/README.md describes them")
    .argument('<folder>', 'the extract')
    .option('--dry-run', 'only say what would be added, changed and removed')
    .option(
      '--adjust-balances',
      'also bring the balances of accounts that exist already to those of the extract; needs --as-of, or the column balances_as_of',
    )
    .option(
      '--as-of <moment>',
      "of which moment the extract's balances are, like 2026-03-02T06:00:00-05:00; transfers posted since stay on top",
      readMoment,
    )
    .option(
      '--allow-removals',
      'carry out removals of more than 20 rows and one in a hundred, which are refused otherwise',
    )
    .action(async (folder: string, options: Options) => {
      await withStores(async (context, origin) => {
        const progress = progressTo(process.stderr);
        try {
          const report = await importExtract(context, folder, {
            ...options,
            origin,
            onPlan: (plan) => {
              progress.end();
              for (const line of describePlan(plan)) say(line);
            },
            onProgress: ({ step, done, of }) => progress.show(step, done, of),
            onWait: () => progress.note('Another import of this institution is under way. Waiting for it.'),
          });
          progress.end();
          say(
            options.dryRun === true
              ? 'This was a dry run: nothing was changed.'
              : `${report.code}: ${report.persons} persons, ${report.members} members, ${report.accounts} accounts; ` +
                  `${report.openedAccounts} opened with a balance, ${report.adjustedAccounts} adjusted.`,
          );
        } catch (error) {
          progress.end();
          if (error instanceof ImportRefused) throw new CommandFailed(error.message);
          throw error;
        }
      });
    });
}

function readMoment(text: string): Date {
  const moment = parseMoment(text);
  if (moment === undefined) {
    throw new InvalidArgumentError('A moment with its offset, like 2026-03-02T06:00:00-05:00.');
  }
  return moment;
}

const tables = {
  persons: 'persons',
  members: 'memberships',
  memberPersons: 'persons of memberships',
  accounts: 'accounts',
  holders: 'holders',
  loans: 'standing of loans',
} as const;

/** The lines that say what an import is about to do. */
function describePlan(plan: ImportPlan): string[] {
  const changes = (Object.entries(tables) as [keyof typeof tables, string][]).flatMap(([table, name]) => {
    const { added, changed, removed }: Change = plan[table];
    return added + changed + removed === 0
      ? []
      : [`  ${name}: ${added} added, ${changed} changed, ${removed} removed`];
  });
  const { before, after } = plan.settings;
  const settings =
    before === undefined
      ? ['  the institution: added']
      : Object.entries(after).map(([name, value]) => `  setting ${name}: ${before[name]} becomes ${value}`);
  const balances =
    plan.opened + plan.adjusted === 0 ? [] : [`  balances: ${plan.opened} opened, ${plan.adjusted} adjusted`];
  const all = [...settings, ...changes, ...balances];
  const { count, accountIds } = plan.unheld;
  const more = count > accountIds.length ? ` and ${count - accountIds.length} more` : '';
  return [
    ...(all.length === 0 ? ['The extract changes nothing.'] : ['The extract brings:', ...all]),
    ...(count === 0
      ? []
      : [`Accounts without a holder, which nobody sees: ${accountIds.join(', ')}${more}.`]),
  ];
}
