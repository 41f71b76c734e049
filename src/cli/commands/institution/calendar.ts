import { Command, Option } from 'commander';
import { isLocalDate, type LocalDate } from '../../../institutions/index.ts';
import { calendarOf } from '../../../operators/index.ts';
import { changeBusinessDay } from '../../../transfers/index.ts';
import { accepting, wholeNumber } from '../../arguments.ts';
import {
  actingAs,
  asOption,
  type InstitutionOptions,
  type InstitutionRun,
  institutionOption,
  say,
  withInstitution,
} from '../../command.ts';
import { jsonOption, type OutputOptions, sayList } from '../../output.ts';
import { proposed } from '../../proposed.ts';

/** Days are read in the time zone of the institution. */
export function calendar(): Command {
  return new Command('calendar')
    .description('business days: the calendar of the Federal Reserve with the exceptions of an institution')
    .addCommand(show())
    .addCommand(add())
    .addCommand(remove());
}

interface ShowOptions extends InstitutionOptions, OutputOptions {
  readonly year?: number;
}

function show(): Command {
  return new Command('show')
    .description('list the weekdays of a year without business, and the exceptions')
    .option('--year <year>', 'default: the present one', wholeNumber(1975, 2999, 'From 1975 to 2999.'))
    .option(...institutionOption)
    .addOption(jsonOption())
    .action((options: ShowOptions, command: Command) =>
      withInstitution(command, async (run) => {
        const rows = await calendarOf(run.context, run.institution, options.year);
        await sayList(
          rows,
          {
            columns: {
              day: (row) => row.day,
              weekday: (row) => row.weekday,
              business: (row) => (row.open ? 'open' : 'closed'),
              source: (row) => row.source,
            },
            document: (row) => ({ ...row }),
            none: 'The year has no such day.',
          },
          options,
        );
      }),
    );
}

interface ChangeOptions extends InstitutionOptions {
  readonly as?: string;
}

const readDay = accepting(isLocalDate, 'A day like 2026-12-24.');

function add(): Command {
  return new Command('add')
    .description('open or close the institution on a day, unlike the Federal Reserve')
    .argument('<day>', 'like 2026-12-24', readDay)
    .addOption(new Option('--open', 'transfers are processed on this day').conflicts('closed'))
    .option('--closed', 'transfers wait for the next business day')
    .option(...institutionOption)
    .addOption(asOption())
    .action((day: LocalDate, options: ChangeOptions & { open?: true; closed?: true }, command: Command) => {
      if (!options.open && !options.closed) command.error('error: say whether the day is --open or --closed');
      return withInstitution(command, (run) => change(run, options, { day, open: options.open === true }));
    });
}

function remove(): Command {
  return new Command('remove')
    .description('end an exception: the day is again as for the Federal Reserve')
    .argument('<day>', 'like 2026-12-24', readDay)
    .option(...institutionOption)
    .addOption(asOption())
    .action((day: LocalDate, options: ChangeOptions, command: Command) =>
      withInstitution(command, (run) => change(run, options, { day, open: null })),
    );
}

async function change(
  { context, institution, institutionId, origin }: InstitutionRun,
  { as }: ChangeOptions,
  { day, open }: { readonly day: LocalDate; readonly open: boolean | null },
): Promise<void> {
  const by = actingAs(origin, institution, as);
  const changed = await changeBusinessDay(context, institutionId, { day, open, origin: by });
  const state = open === null ? 'follows the Federal Reserve' : open ? 'is open' : 'is closed';
  switch (changed.kind) {
    case 'proposed':
      return say(proposed(`The change of ${day}`, changed));
    case 'unchanged':
      return say(`${institution.code}: ${day} ${state} already. Nothing was changed.`);
    default:
      return say(`${institution.code}: ${day} ${state}.`);
  }
}
