import { stat } from 'node:fs/promises';
import path from 'node:path';
import { Command, Option } from 'commander';
import type { AppContext } from '../../../app/context.ts';
import { exists, transactionsFile } from '../../../core-connection/index.ts';
import {
  type Commit,
  commits,
  type ImportPlan,
  ImportRefusedError,
  importExtract,
  MappingError,
} from '../../../core-system/index.ts';
import type { CommandOrigin } from '../../../events/index.ts';
import { readMoment } from '../../arguments.ts';
import { chooseInstitution } from '../../chosen-institution.ts';
import { CommandError, say, withContext } from '../../command.ts';
import { keepHeapSmall } from '../../heap.ts';
import { importTransactionsFile } from './import-transactions.ts';
import { progressTo } from './progress.ts';
import { refuseOtherFile, writeRejects } from './rejects-file.ts';

/** Exit code beside 0, 1 and 2: the import is done, without the rows that it rejected. */
const someRejected = 3;

interface Options {
  readonly adjustBalances?: boolean;
  readonly asOf?: Date;
  readonly allowRemovals?: boolean;
  readonly commit?: Commit;
  readonly dryRun?: boolean;
  readonly institution?: string;
  readonly columns?: string;
  readonly extractColumns?: string;
  readonly rejects?: string;
}

export function importCommand(): Command {
  return new Command('import')
    .description(
      "import a core's extract, a folder of CSV files in the format of examples/README.md, or a file of its transactions",
    )
    .argument('<path>', 'the extract, or transactions.csv')
    .option('--institution <code>', 'for a file of transactions: the institution, if there are several')
    .option(
      '--columns <file>',
      'for transactions: the mapping of their columns (default: columns.json beside them)',
    )
    .option(
      '--extract-columns <file>',
      "for an extract with a core's own columns: their mapping (default: extract-columns.json of the folder, if it exists)",
    )
    .option(
      '--rejects <file>',
      'for an extract: import the rows without errors, and list the others in this file with line, column and reason (exit code 3)',
    )
    .option('--dry-run', 'print the rows to add, change and remove, and stop')
    .option(
      '--adjust-balances',
      'adjust the balances of existing accounts to the extract; needs --as-of or the column balances_as_of',
    )
    .option(
      '--as-of <moment>',
      "the moment of the extract's balances, like 2026-03-02T06:00:00-05:00; transfers posted after it are added to them",
      readMoment,
    )
    .option(
      '--allow-removals',
      'allow removals of more than 20 rows that are also more than one in a hundred',
    )
    .addOption(
      new Option(
        '--commit <when>',
        'for an extract: once, so that an interrupted import changes nothing, or by-range, so that no member waits for it (default: once; a later import that is large has no default)',
      ).choices(commits),
    )
    .action(async (given: string, options: Options) => {
      keepHeapSmall();
      await withContext(async (context, origin) => {
        const isFile = await stat(given).then(
          (found) => found.isFile(),
          () => false,
        );
        const file = isFile ? given : path.join(given, transactionsFile);
        const hasTransactions = await exists(file);
        const isExtract =
          !isFile && (!hasTransactions || (await exists(path.join(given, 'institution.csv'))));
        if (options.rejects !== undefined) {
          if (!isExtract) throw new CommandError('--rejects is for an extract, which is a folder.');
          await refuseOtherFile(options.rejects);
        }
        let code = options.institution;
        if (isExtract) code = await importFolder(context, given, { options, origin });
        if (!hasTransactions || options.dryRun === true) return;
        const institution = await chooseInstitution(context, code);
        await importTransactionsFile(context, { institution, origin }, { file, columns: options.columns });
      });
    });
}

/** Imports an extract and prints what it did. Returns the code of its institution. */
async function importFolder(
  context: AppContext,
  folder: string,
  { options, origin }: { readonly options: Options; readonly origin: CommandOrigin },
): Promise<string> {
  const progress = progressTo(process.stderr);
  try {
    const { extractColumns, columns: _, rejects, ...others } = options;
    const report = await importExtract(context, folder, {
      ...others,
      ...(extractColumns !== undefined && { columns: extractColumns }),
      ...(rejects !== undefined && { onRejected: (rows) => writeRejects(rejects, rows) }),
      origin,
      onPlan: (plan) => {
        progress.end();
        for (const line of describePlan(plan)) say(line);
      },
      onProgress: ({ step, done, of }) => progress.show(step, done, of),
      onWait: () => progress.note('Another import of this institution is running. Waiting for it.'),
    });
    progress.end();
    say(
      options.dryRun === true
        ? 'This was a dry run. Nothing was changed.'
        : `${report.code}: ${report.persons} persons, ${report.members} members, ${report.accounts} accounts; ` +
            `${report.openedAccounts} opened with a balance, ${report.adjustedAccounts} adjusted.`,
    );
    const rejected = Object.entries(report.plan.rejected);
    if (rejected.length > 0) {
      const rows = rejected.map(([file, count]) => `${count} of ${file}`).join(', ');
      say(`Rejected rows, with the reasons in ${rejects}: ${rows}.`);
      process.exitCode = someRejected;
    }
    return report.code;
  } catch (error) {
    progress.end();
    if (error instanceof ImportRefusedError || error instanceof MappingError)
      throw new CommandError(error.message);
    throw error;
  }
}

const interruption = {
  once: 'All of it is committed at once: an interrupted import changes nothing.',
  'by-range': 'It is committed range by range: run an interrupted import again to complete it.',
  undecided:
    'Say when it is committed. With --commit once an interrupted import changes nothing, and members wait for the accounts of the import. With --commit by-range no member waits for long, and an interrupted import is completed by running it again.',
} as const satisfies Record<Commit | 'undecided', string>;

const tables = {
  persons: 'persons',
  members: 'memberships',
  memberPersons: 'persons of memberships',
  accounts: 'accounts',
  holders: 'holders',
  loans: 'standing of loans',
} as const;

/** The plan as lines of text. */
function describePlan(plan: ImportPlan): string[] {
  const changes = (Object.entries(tables) as [keyof typeof tables, string][]).flatMap(([table, name]) => {
    const { added, changed, removed } = plan[table];
    return added + changed + removed === 0
      ? []
      : [`  ${name}: ${added} added, ${changed} changed, ${removed} removed`];
  });
  const { before, after } = plan.settings;
  const settings =
    before === undefined
      ? ['  the institution: added']
      : Object.entries(after).map(([name, value]) => `  setting ${name}: ${before[name]} becomes ${value}`);
  const kept = Object.entries(plan.settings.kept).map(
    ([name, { extract, stored }]) =>
      `  setting ${name}: stays ${stored}; the extract has ${extract} (change it with \`sharedraft institution settings\`)`,
  );
  const balances =
    plan.opened + plan.adjusted === 0 ? [] : [`  balances: ${plan.opened} opened, ${plan.adjusted} adjusted`];
  const all = [...settings, ...changes, ...balances];
  const { count, accountIds } = plan.unheld;
  const more = count > accountIds.length ? ` and ${count - accountIds.length} more` : '';
  return [
    ...(all.length === 0
      ? ['The extract changes nothing.']
      : ['Changes of this import:', ...all, interruption[plan.commit ?? 'undecided']]),
    ...kept,
    ...(count === 0
      ? []
      : [`Accounts without a holder, which no member sees: ${accountIds.join(', ')}${more}.`]),
  ];
}
