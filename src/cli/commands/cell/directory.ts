import { Command } from 'commander';
import { readPublication } from '../../../cells/index.ts';
import { findInstitutionByCode } from '../../../institutions/index.ts';
import { accepting } from '../../arguments.ts';
import { withDirectory } from '../../cell-sides.ts';
import { CommandError, say } from '../../command.ts';
import { jsonOption, type OutputOptions, sayList } from '../../output.ts';

/* The commands on the directory of the cells. Its own audit has their changes. */

export function publish(): Command {
  return new Command('publish')
    .description('bring the directory to what this cell has; a service does so six times a minute')
    .option('--take <code>', 'and name this cell for an institution that it serves')
    .action(({ take }: { readonly take?: string }) =>
      withDirectory(async ({ database, auth }, directory) => {
        const settings = { publicUrl: auth.issuer, vault: auth.vault, clock: auth.clock };
        const cell = await database.directory((db) => readPublication(db, settings));
        if (cell === undefined)
          throw new CommandError('This database is no cell. "sharedraft cell set" makes it one.');
        const { own, publication } = cell;
        if (take !== undefined) {
          const institution = await database.directory((db) => findInstitutionByCode(db, take));
          if (institution?.served !== 'here')
            throw new CommandError(`This cell does not serve an institution "${take}".`);
          const { institutionId } = institution;
          const place = await directory.find({ kind: 'institution', institutionId });
          const moves = Math.max(institution.moves, place?.moves ?? 0);
          await directory.place({ ...institution, moves }, { from: place?.cell ?? own.name, to: own.name });
        }
        const { changes, conflicts } = await directory.publish(own, publication);
        say(changes === 0 ? 'The directory has what this cell has.' : `Published ${changes} changes.`);
        if (conflicts.length > 0) throw new CommandError(conflicts.join('\n'));
      }),
    );
}

export function list(): Command {
  return new Command('list')
    .description('list the cells of the directory')
    .addOption(jsonOption())
    .action((options: OutputOptions) =>
      withDirectory(async (_context, directory) => {
        const cells = await directory.listCells();
        await sayList(
          cells,
          {
            columns: {
              cell: ({ name }) => name,
              address: ({ address }) => address,
              numbers: ({ firstNumber, lastNumber }) => `${firstNumber}-${lastNumber}`,
              state: (cell) => cell.state,
              version: ({ program, schemaVersion }) => `${program} (migration ${schemaVersion})`,
            },
            document: ({ fingerprint: _, ...cell }) => ({ ...cell }),
            none: 'The directory has no cell.',
          },
          options,
        );
      }),
    );
}

export function map(): Command {
  return new Command('map')
    .description('print the map for HAProxy: a line for each host name, with the backend of its cell')
    .action(() =>
      withDirectory(async (_context, directory) => {
        for (const { host: name, cell } of await directory.listHosts()) say(`${name} cell_${cell}`);
      }),
    );
}

export function state(): Command {
  return new Command('state')
    .description('take a cell out of the directory’s service, or back into it')
    .argument('<cell>', 'name of the cell')
    .argument(
      '<state>',
      'serving; out: no request is forwarded to it, and no institution moves to it',
      accepting((text) => text === 'serving' || text === 'out', 'serving or out.'),
    )
    .action((name: string, wanted: 'serving' | 'out') =>
      withDirectory(async (_context, directory) => {
        await directory.setState(name, wanted);
        say(`The cell "${name}" is ${wanted}.`);
      }),
    );
}
