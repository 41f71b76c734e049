import { Command, InvalidArgumentError } from 'commander';
import { setCell, type WantedCell } from '../../../cells/index.ts';
import { findCell, listAllInstitutions } from '../../../institutions/index.ts';
import { matching } from '../../arguments.ts';
import { withCell } from '../../cell-sides.ts';
import { CommandError, say, withContext } from '../../command.ts';
import { jsonOption, type OutputOptions, sayOne } from '../../output.ts';
import { list, map, publish, state } from './directory.ts';

export function cellCommands(): Command[] {
  return [show(), set(), publish(), list(), map(), state()];
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

interface SetOptions {
  readonly numbers: Pick<WantedCell, 'firstNumber' | 'lastNumber'>;
  readonly address?: string;
}

function readAddress(text: string): string {
  if (/^https?:\/\/[a-z0-9.:_[\]-]+$/.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError('A URL without path, in lower case, like http://10.0.0.7:8080.');
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
    .option(
      '--address <url>',
      'address of the cell inside the network, for the directory, like http://10.0.0.7:8080',
      readAddress,
    )
    .action((name: string, { numbers, address }: SetOptions) =>
      withCell(async ({ own, clock, origin, directory, common }) => {
        if ((directory === undefined) !== (address === undefined))
          throw new CommandError(
            'Give --address and DIRECTORY_DATABASE_URL together: the directory has the address of each cell.',
          );
        const register =
          directory &&
          address &&
          (async (cell: WantedCell) => {
            await directory.requireFitLogin();
            await directory.register({ ...common, ...cell }, address);
          });
        await setCell(own, { name, ...numbers }, { clock, origin, ...(register && { register }) });
        say(
          `This database is the cell "${name}". Its institutions get the numbers ${numbers.firstNumber}-${numbers.lastNumber}.`,
        );
      }),
    );
}
