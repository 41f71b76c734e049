import { Command, InvalidArgumentError } from 'commander';
import { setCell, type WantedCell } from '../../cells/index.ts';
import { findCell, listAllInstitutions } from '../../institutions/index.ts';
import { matching } from '../arguments.ts';
import { withCell } from '../cell-sides.ts';
import { CommandError, say, withContext } from '../command.ts';
import { jsonOption, type OutputOptions, sayOne } from '../output.ts';

export function cellCommands(): Command[] {
  return [show(), set()];
}

function show(): Command {
  return new Command('show')
    .description('show the name and the numbers of this cell')
    .addOption(jsonOption())
    .action((options: OutputOptions) =>
      withContext(async ({ database }) => {
        const [cell, institutions] = await database.directory((db) =>
          Promise.all([findCell(db), listAllInstitutions(db)]),
        );
        if (cell === undefined)
          throw new CommandError('This database is no cell. "sharedraft cell set" makes it one.');
        const { name, firstNumber, lastNumber } = cell;
        const here = institutions.filter(({ served }) => served === 'here').length;
        sayOne(
          {
            document: { name, firstNumber, lastNumber, institutions: here },
            facts: [
              ['name', name],
              ['numbers', `${firstNumber}-${lastNumber}`],
              ['institutions', here],
            ],
          },
          options,
        );
      }),
    );
}

function readNumbers(text: string): Pick<WantedCell, 'firstNumber' | 'lastNumber'> {
  const [, first, last] = /^([1-9][0-9]{0,6})-([1-9][0-9]{0,6})$/.exec(text) ?? [];
  if (first === undefined || last === undefined || Number(first) > Number(last) || Number(last) > 9_000_000)
    throw new InvalidArgumentError('Two numbers from 1 to 9000000 like 1001-2000.');
  return { firstNumber: Number(first), lastNumber: Number(last) };
}

function set(): Command {
  return new Command('set')
    .description('make this database a cell, or change its name or numbers')
    .argument(
      '<name>',
      'name of the cell',
      matching(/^[a-z][a-z0-9-]{0,30}$/, 'A lower-case letter, then at most 30 letters, digits and hyphens.'),
    )
    .requiredOption(
      '--numbers <range>',
      'the institution numbers that this cell alone gives out, like 1001-2000',
      readNumbers,
    )
    .action((name: string, { numbers }: { numbers: Pick<WantedCell, 'firstNumber' | 'lastNumber'> }) =>
      withCell(async ({ own, clock, origin }) => {
        await setCell(own, { name, ...numbers }, { clock, origin });
        say(
          `This database is the cell "${name}". Its institutions get the numbers ${numbers.firstNumber}-${numbers.lastNumber}.`,
        );
      }),
    );
}
