import { Command, Option } from 'commander';
import { type FoundPerson, findMembers, type SearchWay, searchWays } from '../../../operators/index.ts';
import { wholeNumber } from '../../arguments.ts';
import { type InstitutionOptions, onInstitution } from '../../command.ts';
import { jsonOption, type OutputOptions, sayList } from '../../output.ts';

const mostRows = 200;

interface Options extends InstitutionOptions, OutputOptions {
  readonly by?: SearchWay;
  readonly limit: number;
  readonly after?: string;
}

export function find(): Command {
  return onInstitution(
    new Command('find')
      .description('find persons; the audit records the search')
      .argument(
        '<text>',
        'a member number, name, e-mail address, username or id; names like "Ada Example", "Exam" or "Ada"',
      )
      .addOption(
        new Option('--by <kind>', 'only by this; default: by numbers and addresses, then by name').choices(
          searchWays,
        ),
      )
      .option('--limit <rows>', `at most ${mostRows}`, wholeNumber(1, mostRows, `From 1 to ${mostRows}.`), 50)
      .option('--after <person>', 'the page behind this person')
      .addOption(jsonOption()),
    async ({ context, institutionId, origin }, { by, limit, after, ...output }: Options, text: string) => {
      const search = { text, by, limit, after, origin };
      const found = await findMembers(context, institutionId, search);
      await sayPersons(found, output);
      const last = found.at(-1);
      if (found.length === limit && last !== undefined)
        process.stderr.write(`There may be more: add --after ${last.personId}\n`);
    },
  );
}

export async function sayPersons(persons: readonly FoundPerson[], options: OutputOptions): Promise<void> {
  await sayList(
    persons,
    {
      columns: {
        person: (row) => row.personId,
        name: (row) => [row.lastName, row.firstName].filter(Boolean).join(', '),
        'member numbers': (row) =>
          row.memberships.map(({ memberNumber, role }) => `${memberNumber} ${role}`).join(', '),
        'e-mail': (row) => row.email,
        username: (row) => row.username,
        user: (row) => row.userId,
        state: stateOf,
      },
      document: (row) => ({ ...row }),
      none: 'No person matches.',
    },
    options,
  );
}

function stateOf({ userId, username, active, locked }: FoundPerson): string {
  if (userId === null) return 'not registered';
  if (active === false) return 'deactivated';
  if (locked === true) return 'locked';
  return username === null ? 'not activated' : 'active';
}
