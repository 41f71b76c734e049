import { Command, Option } from 'commander';
import {
  adjustBreak,
  type Break,
  type BreakClass,
  type BreakFilter,
  breakClasses,
  changeBreak,
  findBreak,
} from '../../../core-connection/index.ts';
import { nameOf } from '../../../events/index.ts';
import { breakDocument, readBreak, readBreaks } from '../../../operators/index.ts';
import type { Position } from '../../../shared/page.ts';
import { formatMinor } from '../../../transfers/index.ts';
import { accepting, readNameForPeople, readReason } from '../../arguments.ts';
import {
  CommandError,
  type InstitutionOptions,
  type InstitutionRun,
  onInstitution,
  say,
} from '../../command.ts';
import { type ConfirmOptions, confirm, yesOption } from '../../confirm.ts';
import { jsonOption, type OutputOptions, sayList, sayOne } from '../../output.ts';
import { proposed } from '../../proposed.ts';

const readBreakId = accepting(
  (text) => /^[1-9][0-9]{0,17}$/.test(text),
  'The id of a break is a number, as `core breaks` shows it.',
);

const readDifference = accepting(
  (text) => /^-?[0-9]{1,15}([.][0-9]{1,4})?$/.test(text),
  'The difference is an amount, as `core breaks` shows it: 12.50 or -12.50.',
);

interface ListOptions extends InstitutionOptions, OutputOptions {
  readonly all?: true;
  readonly class?: BreakClass;
}

export function breakCommands(): Command[] {
  return [list(), show(), change(), adjust()];
}

function list(): Command {
  const command = new Command('breaks')
    .description("list the open differences between the core's books and these, the oldest first")
    .option('--all', 'closed ones too')
    .addOption(new Option('--class <class>', 'only of this class').choices(breakClasses))
    .addOption(jsonOption());
  return onInstitution(command, async (run, options: ListOptions) => {
    await sayList(
      breaksOf(run, { isOpen: options.all !== true, class: options.class }),
      {
        columns: {
          id: ({ breakKey }) => breakKey,
          class: (one) => one.class,
          account: ({ accountId }) => accountId,
          difference: ({ differenceMinor, currency }) =>
            differenceMinor === 0n ? null : `${formatMinor(differenceMinor, currency)} ${currency}`,
          posting: ({ coreId, transferId }) => coreId ?? transferId,
          since: ({ openedAt }) => openedAt,
          owner: ({ owner }) => owner,
          ...(options.all && { closed: ({ closedAt, closedBy }: Break) => closedAt && [closedBy, closedAt] }),
        },
        document: breakDocument,
        none: 'No breaks: nothing differs that was compared.',
      },
      options,
    );
  });
}

async function* breaksOf(
  { context, institutionId, origin }: InstitutionRun,
  filter: BreakFilter,
): AsyncGenerator<Break> {
  for (let after: Position | null = null; ; ) {
    const page: Awaited<ReturnType<typeof readBreaks>> = await readBreaks(context, institutionId, {
      filter,
      page: { limit: 200, after },
      origin,
    });
    yield* page.items;
    if (page.next === null) return;
    after = page.next;
  }
}

function show(): Command {
  const command = new Command('break')
    .description('show a break with its story')
    .argument('<id>', 'as `core breaks` shows it', readBreakId)
    .addOption(jsonOption());
  return onInstitution(
    command,
    async ({ context, institutionId, origin }, options: OutputOptions & InstitutionOptions, id: string) => {
      const found = await readBreak(context, institutionId, { breakKey: BigInt(id), origin });
      if (found === undefined) throw new CommandError(`There is no break ${id}.`);
      const { story, ...one } = found;
      sayOne(
        {
          document: {
            ...breakDocument(one),
            story: story.map(({ at, author, note }) => ({ at, ...(author !== null && { author }), note })),
          },
          facts: [
            ['break', one.breakKey],
            ['class', one.class],
            ['account', one.accountId],
            ['posting of the core', one.coreId],
            ['transfer', one.transferId],
            ['difference', `${formatMinor(one.differenceMinor, one.currency)} ${one.currency}`],
            ['owner', one.owner],
            ['opened', one.openedAt],
            ['closed', one.closedAt && `${one.closedAt.toISOString()} ${one.closedBy}`],
          ],
          parts: [
            {
              title: 'Story',
              headings: ['at', 'by', 'note'],
              rows: story.map(({ at, author, note }) => [at, author ?? 'the service', note]),
              none: 'none',
            },
          ],
        },
        options,
      );
    },
  );
}

function change(): Command {
  const command = new Command('note')
    .description('give a break an owner, or its story a note')
    .argument('<id>', 'as `core breaks` shows it', readBreakId)
    .option('--owner <name>', 'the person who looks after it', readNameForPeople)
    .option('--note <text>', 'a line for its story', readReason);
  return onInstitution(
    command,
    async (
      { context, institutionId, origin },
      { owner, note }: InstitutionOptions & { readonly owner?: string; readonly note?: string },
      id: string,
    ) => {
      if (owner === undefined && note === undefined) throw new CommandError('Give --owner, --note or both.');
      const changed = await changeBreak(context, institutionId, {
        breakKey: BigInt(id),
        change: { owner, note },
        author: { name: nameOf(origin.operator), origin },
      });
      if (changed === undefined) throw new CommandError(`There is no break ${id}.`);
      if (changed === 'closed') throw new CommandError(`The break ${id} is closed. It takes notes only.`);
    },
  );
}

interface AdjustOptions extends InstitutionOptions, ConfirmOptions {
  readonly difference: string;
  readonly reason: string;
}

function adjust(): Command {
  const command = new Command('adjust')
    .description("post the difference of an account's break here, and close the break")
    .argument('<id>', 'as `core breaks` shows it', readBreakId)
    .requiredOption(
      '--difference <amount>',
      'the difference, as `core break` shows it; another one is refused',
      readDifference,
    )
    .requiredOption('--reason <text>', 'why, for the audit and the story', readReason)
    .addOption(yesOption());
  return onInstitution(
    command,
    async (
      { context, institutionId, origin },
      { difference, reason, ...options }: AdjustOptions,
      id: string,
    ) => {
      const breakKey = BigInt(id);
      const found = await findBreak(context.database, institutionId, breakKey);
      if (found === undefined) throw new CommandError(`There is no break ${id}.`);
      const amount = `${difference} ${found.currency}`;
      await confirm(`${amount} is posted to ${found.accountId} as an adjustment.`, options);
      const outcome = await adjustBreak(context, institutionId, { breakKey, difference, reason, origin });
      if (outcome.kind === 'proposed') return say(proposed(`The adjustment of the break ${id}`, outcome));
      if (outcome.kind === 'changed')
        throw new CommandError(
          `The difference of the break ${id} is ${outcome.difference}. Look at it again before you adjust it.`,
        );
      if (outcome.kind !== 'adjusted') throw new CommandError(notAdjusted[outcome.kind](id));
      say(`${amount} is posted to ${found.accountId}, and the break ${id} is closed.`);
    },
  );
}

const notAdjusted: Readonly<
  Record<'unknown' | 'closed' | 'not_of_an_account' | 'outdated', (id: string) => string>
> = {
  unknown: (id) => `There is no break ${id}.`,
  closed: (id) => `The break ${id} is closed.`,
  not_of_an_account: (id) =>
    `The break ${id} is not a lasting difference of an account that is here: it closes by what the core still sends or decides.`,
  outdated: (id) =>
    `Postings of the core have arrived since the break ${id} was found. Compare the balances again first.`,
};
