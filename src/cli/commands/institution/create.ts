import path from 'node:path';
import { Command, Option } from 'commander';
import type { AppContext } from '../../../app/context.ts';
import {
  ExtractRejectedError,
  expectUnique,
  institutionShape,
  readInstitution,
  readTable,
} from '../../../core-system/index.ts';
import type { CommandOrigin } from '../../../events/index.ts';
import type { InstitutionSettings, Settings } from '../../../institutions/index.ts';
import { currencyDecimals } from '../../../ledger/index.ts';
import { createInstitution } from '../../../operators/index.ts';
import { accepting, matching } from '../../arguments.ts';
import { CommandError, say, withContext } from '../../command.ts';
import { jsonOption, type OutputOptions, sayList } from '../../output.ts';
import { readSettings, type SettingOptions, withSettings } from './settings.ts';

interface Options extends SettingOptions, OutputOptions {
  readonly currency: string;
  readonly record: 'ledger' | 'core';
  readonly demo?: true;
  readonly from?: string;
}

export function create(): Command {
  return withSettings(
    new Command('create')
      .description('create an institution with its settings, or all of a file')
      .argument(
        '[code]',
        'its name in commands, 2 to 31 lower-case letters, digits or -',
        matching(/^[a-z][a-z0-9-]{1,30}$/, 'Must have 2 to 31 lower-case letters, digits or -.'),
      )
      .option(
        '--from <file>',
        'create the institutions of a CSV file with the columns of institution.csv; those that exist stay as they are',
      )
      .option(
        '--currency <code>',
        'ISO 4217; it never changes',
        accepting((text) => currencyDecimals(text) !== undefined, 'An ISO 4217 code like USD.'),
        'USD',
      )
      .addOption(
        new Option('--record <system>', 'the system that keeps the books; it never changes')
          .choices(['ledger', 'core'])
          .default('ledger'),
      )
      .option('--demo', 'a demo: its clock can move, and operators may type names')
      .addOption(jsonOption()),
  ).action(async (code: string | undefined, options: Options, command: Command) => {
    if ((code === undefined) === (options.from === undefined)) {
      command.error('error: give either the code of one institution, or a file with --from');
    }
    const { name, timeZone } = options;
    const one =
      code === undefined
        ? undefined
        : {
            code,
            name: name ?? command.error('error: name the institution with --name'),
            timeZone: timeZone ?? command.error('error: give its --time-zone, like America/New_York'),
          };
    await withContext(async (context, origin) => {
      if (one === undefined) return createAll(context, origin, options);
      const settings = { ...one, ...settingsFrom(options) };
      if ((await createOne(context, origin, settings)) === 'exists') {
        throw new CommandError(
          `The institution "${one.code}" exists. Change it with \`sharedraft institution settings\`.`,
        );
      }
      say(
        `${one.code} is created. Next: \`sharedraft client create\`, and \`sharedraft import\` or open enrollment.`,
      );
    });
  });
}

function settingsFrom(options: Options): Omit<InstitutionSettings, 'code' | 'name' | 'timeZone'> {
  const { currency, record, demo = false } = options;
  const given: Partial<Settings> = readSettings(options, currency);
  const { enrollment = 'closed', openingDepositMinor = 0n, passwordMinLength = 15, ...others } = given;
  const { name: _name, timeZone: _timeZone, ...policies } = others;
  return { currency, record, demo, enrollment, openingDepositMinor, passwordMinLength, policies };
}

async function createOne(
  context: AppContext,
  origin: CommandOrigin,
  settings: InstitutionSettings,
): Promise<'created' | 'exists'> {
  if (context.demoOnly !== undefined && !settings.demo) throw new CommandError(context.demoOnly);
  return (await createInstitution(context, { settings, origin })).kind;
}

async function createAll(
  context: AppContext,
  origin: CommandOrigin,
  { from = '', json }: Options,
): Promise<void> {
  const errors: string[] = [];
  const shape = { ...institutionShape, file: path.basename(from) };
  const rows = await readTable(path.dirname(from), shape, errors);
  expectUnique(rows, 'code');
  const all = rows.map(readInstitution);
  if (errors.length > 0) throw new ExtractRejectedError(errors);
  const outcomes = async function* () {
    for (const settings of all)
      yield { code: settings.code, outcome: await createOne(context, origin, settings) };
  };
  await sayList(
    outcomes(),
    {
      columns: { code: (row) => row.code, outcome: (row) => row.outcome },
      document: (row) => row,
      none: 'The file has no institution.',
    },
    { ...(json && { json }) },
  );
}
