import { Command } from 'commander';
import { coreConnection, openDesk } from '../../../app/context.ts';
import {
  acknowledgeFile,
  type CoreConnection,
  exportInstructions,
  InstructionFileError,
  rewriteFile,
} from '../../../core-connection/index.ts';
import { openInstructions } from '../../../operators/index.ts';
import { formatMinor } from '../../../transfers/index.ts';
import { wholeNumber } from '../../arguments.ts';
import { chooseInstitution } from '../../chosen-institution.ts';
import { CommandError, say, withContext } from '../../command.ts';
import { jsonOption, type OutputOptions, sayEach, sayOne } from '../../output.ts';
import { breakCommands } from './breaks.ts';

interface Options {
  readonly institution?: string;
}

const readFileNumber = wholeNumber(1, 999_999_999, 'The number of a file is a whole number from 1.');
const institutionOption = ['--institution <code>', 'code of the institution'] as const;

export function coreCommands(): Command[] {
  return [status(), instructions(), exportCommand(), acknowledge(), ...breakCommands()];
}

function status(): Command {
  return new Command('status')
    .description('show the connection to the core, and what it has not decided yet')
    .option(...institutionOption)
    .addOption(jsonOption())
    .action((options: Options & OutputOptions) =>
      withContext(async (context) => {
        const { institutionId, record } = await chooseInstitution(context, options.institution);
        if (record !== 'core') {
          if (options.json) return sayOne({ document: { record }, facts: [] }, options);
          return say("The institution's own ledger is the record: there is no core to connect.");
        }
        const connection = await coreConnection(context).states.connection(institutionId);
        if (options.json) return sayOne({ document: documentOf(record, connection), facts: [] }, options);
        for (const line of describe(connection)) say(line);
      }),
    );
}

function documentOf(record: string, { exposure, ...connection }: CoreConnection): Record<string, unknown> {
  return {
    record,
    ...connection,
    exposure: exposure.map(({ amountMinor, ...one }) => ({
      ...one,
      amount: formatMinor(amountMinor, one.currencyCode),
    })),
  };
}

function* describe(connection: CoreConnection): Generator<string> {
  const { state, heardAt, heardClient, oldestUndeliveredAt, exposure } = connection;
  yield heardAt === null
    ? `${state}: the core has never asked.`
    : `${state}: ${heardClient} asked last at ${heardAt.toISOString()}.`;
  if (oldestUndeliveredAt !== null)
    yield `The oldest instruction that it has not fetched is of ${oldestUndeliveredAt.toISOString()}.`;
  for (const { mode, currencyCode, instructions, delivered, amountMinor } of exposure) {
    const meaning = mode === 'WAIT' ? 'held' : 'moved here, and may be refused';
    yield `${mode}  ${instructions} open, ${delivered} of them delivered  ${formatMinor(amountMinor, currencyCode)} ${currencyCode} ${meaning}`;
  }
}

function instructions(): Command {
  return new Command('instructions')
    .description('list the undecided instructions, in the order of delivery')
    .option(...institutionOption)
    .addOption(jsonOption())
    .action((options: Options & OutputOptions) =>
      withContext(async (context, origin) => {
        const { institutionId } = await chooseInstitution(context, options.institution);
        await sayEach(
          openInstructions(context, institutionId, origin),
          {
            text: describeInstruction,
            document: ({ amountMinor, ...one }) => ({
              ...one,
              amount: formatMinor(amountMinor, one.currencyCode),
            }),
            none: 'Nothing is undecided.',
          },
          options,
        );
      }),
    );
}

type OpenInstruction = ReturnType<typeof openInstructions> extends AsyncIterable<infer Row> ? Row : never;

function describeInstruction(one: OpenInstruction): string {
  const amount = `${formatMinor(one.amountMinor, one.currencyCode)} ${one.currencyCode}`;
  const place =
    one.fileNumber !== null
      ? `in file ${one.fileNumber}`
      : one.leaseUntil === null
        ? 'not delivered'
        : `leased by ${one.leasedBy} until ${one.leaseUntil.toISOString()}`;
  return `${one.sequence}  ${one.id}  ${one.mode}  ${one.fromAccountId} -> ${one.toAccountId}  ${amount}  ${one.businessDate}  ${place}`;
}

function exportCommand(): Command {
  return new Command('export')
    .description(
      'write the instructions that the core does not have to numbered files; they count as delivered',
    )
    .argument('<folder>', 'an existing folder')
    .option(...institutionOption)
    .option('--again <number>', 'write this file again, with the same content', readFileNumber)
    .action((folder: string, { again, ...options }: Options & { again?: number }) =>
      withContext(async (context, origin) => {
        const institution = await chooseInstitution(context, options.institution);
        const files =
          again === undefined
            ? await exportInstructions(context, institution, { folder, origin })
            : [await rewriteFile(context.database, institution, { folder, number: again })];
        for (const file of files) {
          if (file === undefined) throw new CommandError(`There is no file ${again}.`);
          say(`${file.name}: ${file.instructions} instructions.`);
        }
        if (files.length === 0) say('There is nothing to export.');
      }),
    );
}

function acknowledge(): Command {
  return new Command('acknowledge')
    .description("take the outcomes in a core's file; it can be given again after any failure")
    .argument('<file>', 'CSV with the columns id, outcome, core_reference, code, reason and a TRAILER')
    .option(...institutionOption)
    .action((file: string, options: Options) =>
      withContext(async (context, origin) => {
        const { institutionId } = await chooseInstitution(context, options.institution);
        const { desk, close } = openDesk(context);
        try {
          const report = await acknowledgeFile(desk, institutionId, { file, origin });
          const { accepted, rejected, already, refused } = report;
          for (const { line, transferId, why } of refused) say(`${file}:${line}: ${transferId}: ${why}.`);
          say(
            `${accepted} accepted, ${rejected} rejected, ${already} known already, ${refused.length} refused.`,
          );
          if (refused.length > 0)
            throw new CommandError('Some lines do not count. Settle them with the core.');
        } catch (error) {
          if (error instanceof InstructionFileError) throw new CommandError(error.message);
          throw error;
        } finally {
          await close();
        }
      }),
    );
}
