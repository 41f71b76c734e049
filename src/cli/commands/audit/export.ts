import { readFile, rename, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { appendAudit, type Chain, chains, exportAudit } from '../../../events/index.ts';
import { CommandError, say } from '../../command.ts';
import { type AuditRun, onAudit, type ScopeOptions } from './scope.ts';
import { toSyslog } from './syslog.ts';

interface Options extends ScopeOptions {
  readonly format: 'json' | 'syslog';
  readonly chain?: Chain;
  readonly from?: number;
  readonly state?: string;
  readonly follow?: true;
  readonly personal: boolean;
}

/** The number of the last exported entry of each chain. */
type Positions = Partial<Record<Chain, number>>;

const followMillis = 2_000;

export function exportEntries(): Command {
  const command = new Command('export')
    .description('write sealed entries in the order of their chain, for a log store or an auditor')
    .addOption(
      new Option('--format <format>', 'JSON lines, or syslog messages by RFC 5424')
        .choices(['json', 'syslog'])
        .default('json'),
    )
    .addOption(new Option('--chain <chain>', 'one chain; otherwise both').choices(chains))
    .addOption(new Option('--from <number>', 'begin at this number of the chain').argParser(readNumber))
    .addOption(
      new Option('--state <file>', 'continue where the file says, and keep it up to date').conflicts('from'),
    )
    .option('--follow', 'wait for more entries until the command is stopped')
    .option('--no-personal', 'leave out personal fields and their salts');
  return onAudit(command, async (run, options: Options) => {
    const { chain, from, state } = options;
    if (from !== undefined && chain === undefined) throw new CommandError('--from needs --chain.');
    const positions: Positions = state === undefined ? {} : await readState(state);
    if (chain !== undefined && from !== undefined) positions[chain] = from - 1;
    await recordExport(run, options);
    for (;;) {
      for (const one of chain === undefined ? chains : [chain])
        await exportChain(run, one, positions, options);
      if (!options.follow) return;
      await sleep(followMillis);
      // Ends the command if the reader of its output has left.
      process.stdout.write('');
    }
  });
}

async function exportChain(
  { context, institutionId, name }: AuditRun,
  chain: Chain,
  positions: Positions,
  { format, personal: withPersonal, state }: Options,
): Promise<void> {
  const after = positions[chain] ?? 0;
  const pages = exportAudit(context.database, institutionId, { chain, after, withPersonal });
  try {
    for await (const page of pages) {
      for (const entry of page) say(format === 'json' ? JSON.stringify(entry) : toSyslog(entry, name));
      positions[chain] = page.at(-1)?.number ?? after;
      // After the entries were written: a command that is killed writes a page again, and leaves none out.
      if (state !== undefined) {
        await written();
        await writeState(state, positions);
      }
    }
  } catch (error) {
    if (error instanceof RangeError) throw new CommandError(`The chain ${chain} has no entry ${after}.`);
    throw error;
  }
}

/** Resolves when standard output has taken all that was written to it. */
function written(): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write('', (error) => (error ? reject(error) : resolve()));
  });
}

async function recordExport({ context, institutionId, origin }: AuditRun, options: Options): Promise<void> {
  const { format, chain, from, personal } = options;
  const after = { format, chain, from, personal };
  await context.database.transaction(institutionId, (tx) =>
    appendAudit(tx, { action: 'audit.exported', outcome: 'succeeded', origin, after }, context.clock()),
  );
}

async function readState(file: string): Promise<Positions> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new CommandError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  try {
    const read = JSON.parse(text) as Positions;
    for (const chain of chains) {
      const number = read[chain];
      if (number !== undefined && !(Number.isSafeInteger(number) && number >= 0)) throw new RangeError(chain);
    }
    return read;
  } catch {
    throw new CommandError(`${file} is no state of an export. Delete it to export from the beginning.`);
  }
}

/** By a file of its own that replaces the old one: a kill leaves one of them whole. */
async function writeState(file: string, positions: Positions): Promise<void> {
  await writeFile(`${file}.new`, `${JSON.stringify(positions)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

function readNumber(text: string): number {
  if (!/^[1-9][0-9]{0,14}$/.test(text)) throw new InvalidArgumentError('Must be the number of an entry.');
  return Number(text);
}
