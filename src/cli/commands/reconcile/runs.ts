import { Command, Option } from 'commander';
import { findingDocument, readFindings, reconcileRunDocument } from '../../../operators/index.ts';
import {
  type FindingKind,
  findingKinds,
  findRun,
  type KeptFinding,
  kindsOfFindings,
  listRuns,
  type ReconcileRun,
} from '../../../reconciliation/index.ts';
import type { Page, PageRequest, Position } from '../../../shared/page.ts';
import { accepting, wholeNumber } from '../../arguments.ts';
import { CommandError, type InstitutionOptions, onInstitution, say } from '../../command.ts';
import { jsonOption, type OutputOptions, sayEach, sayList } from '../../output.ts';

const usualRuns = 30;
const readRunId = accepting(
  (text) => /^[1-9][0-9]{0,17}$/.test(text),
  'The id of a run is a number, as `reconcile runs` shows it.',
);

interface RunsOptions extends InstitutionOptions, OutputOptions {
  readonly findings?: true;
  readonly limit?: number;
}

export function runs(): Command {
  const command = new Command('runs')
    .description('list the runs of the last 400 days, the newest first')
    .option('--findings', 'only those that found something')
    .option(
      '--limit <runs>',
      `the most runs; default: ${usualRuns}`,
      wholeNumber(1, 100_000, 'The most runs is a number from 1 to 100000.'),
    )
    .addOption(jsonOption());
  return onInstitution(command, async ({ context, institutionId }, options: RunsOptions) => {
    const { findings: withFindings = false, limit = usualRuns } = options;
    const pages = pagesOf((page) => listRuns(context.database, institutionId, { withFindings, page }));
    await sayList(
      first(limit, pages),
      {
        columns: {
          run: ({ runKey }: ReconcileRun) => runKey,
          finished: ({ finishedAt }) => finishedAt,
          checked: ({ changedSince }) =>
            changedSince === null ? 'every row' : `changes since ${changedSince.toISOString()}`,
          findings: ({ findings: count }) => count,
        },
        document: reconcileRunDocument,
        none: 'No run is kept.',
      },
      options,
    );
  });
}

interface FindingsOptions extends InstitutionOptions, OutputOptions {
  readonly kind?: FindingKind;
}

export function findings(): Command {
  const command = new Command('findings')
    .description('show the rows that a run found off; without a run those of the newest')
    .argument('[run]', 'as `reconcile runs` shows it', readRunId)
    .addOption(new Option('--kind <kind>', 'only those of this check').choices(findingKinds))
    .addOption(jsonOption());
  return onInstitution(
    command,
    async ({ context, institutionId, origin }, options: FindingsOptions, id?: string) => {
      const found = await findRun(context.database, institutionId, id === undefined ? undefined : BigInt(id));
      if (found === undefined)
        throw new CommandError(id === undefined ? 'No run is kept.' : `There is no run ${id}.`);
      const { runKey, finishedAt, findings: count, kept } = found;
      if (!options.json)
        say(
          `Run ${runKey} of ${finishedAt.toISOString()}: ${count} rows are off${kept < count ? `; the first hundred of each kind are kept` : ''}.`,
        );
      let last: FindingKind | undefined;
      await sayEach(
        pagesOf((page) => findingsOf(page)),
        {
          text(one: KeptFinding) {
            const about = one.kind === last ? '' : aboutKind(one.kind);
            last = one.kind;
            return `${about}${lineOf(one)}`;
          },
          document: findingDocument,
        },
        options,
      );

      async function findingsOf(page: PageRequest): Promise<Page<KeptFinding>> {
        const wanted = { runKey, kind: options.kind, page, origin };
        return (await readFindings(context, institutionId, wanted)) ?? { items: [], next: null };
      }
    },
  );
}

function aboutKind(kind: FindingKind): string {
  const { meaning, advice } = kindsOfFindings[kind];
  return `\n${kind}: ${meaning}\n  -> ${advice}\n`;
}

/** `  a-1001-ira: 31,400.01 USD, not 31,400.00 (posted is …)` in the form of the other commands: exact decimal text. */
function lineOf(one: KeptFinding): string {
  const { expected, found, difference, currencyCode } = findingDocument(one);
  const amounts =
    currencyCode === undefined
      ? ''
      : ` ${found} ${currencyCode}, expected ${expected}, difference ${difference};`;
  return `  ${one.subject}:${amounts} ${one.detail}`;
}

async function* pagesOf<Item>(read: (page: PageRequest) => Promise<Page<Item>>): AsyncGenerator<Item> {
  for (let after: Position | null = null; ; ) {
    const page: Page<Item> = await read({ limit: 200, after });
    yield* page.items;
    if (page.next === null) return;
    after = page.next;
  }
}

async function* first<Item>(most: number, items: AsyncIterable<Item>): AsyncGenerator<Item> {
  let count = 0;
  for await (const item of items) {
    yield item;
    count += 1;
    if (count === most) return;
  }
}
