import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { type ChainVerdict, chains, verifyChain } from '../../../events/index.ts';
import { CommandError, say } from '../../command.ts';
import { jsonOption } from '../../output.ts';
import { readAnchorFile } from './anchor-file.ts';
import { onAudit, type ScopeOptions } from './scope.ts';

interface Options extends ScopeOptions {
  readonly anchor?: string;
  readonly from?: string;
  readonly json?: true;
}

/** The status of a command that found something wrong, as of reconcile. */
const foundBroken = 3;

export function verify(): Command {
  const command = new Command('verify')
    .description('recompute the hashes of both chains, and name the first entry that is not as it was sealed')
    .option('--anchor <file>', 'compare with anchors kept outside the database: the output of `audit anchor`')
    .option('--from <file>', 'likewise, and begin at the anchor of each chain')
    .addOption(jsonOption());
  return onAudit(command, async ({ context, institutionId, name }, options: Options) => {
    const file = options.from ?? options.anchor;
    const outside = file === undefined ? [] : readAnchorFile(await readText(file));
    if (file !== undefined && outside.length === 0)
      throw new CommandError(`${file} has no anchor: give it the output of \`audit anchor\`.`);
    for (const chain of chains) {
      const verdict = await verifyChain(
        context.database,
        institutionId,
        chain,
        outside,
        options.from !== undefined,
      );
      say(
        options.json
          ? JSON.stringify({ institution: name, ...documentOf(verdict) })
          : sentenceOf(name, verdict),
      );
      if (verdict.broken !== undefined) process.exitCode = foundBroken;
    }
  });
}

async function readText(file: string): Promise<string> {
  return readFile(file === '-' ? '/dev/stdin' : file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`${file} cannot be read (${error.code}).`);
  });
}

function documentOf({ broken, ...verdict }: ChainVerdict) {
  return {
    ...verdict,
    intact: broken === undefined,
    ...(broken && {
      broken: { ...broken, ...(broken.auditKey && { auditKey: Number(broken.auditKey) }) },
    }),
  };
}

function sentenceOf(
  name: string,
  { chain, from, to, entries, erased, anchors, broken }: ChainVerdict,
): string {
  const label = `${name} ${chain}`;
  if (broken !== undefined) {
    const { number, auditKey, recordedAt, problem } = broken;
    const entry = auditKey === undefined ? '' : ` (key ${auditKey}, recorded ${recordedAt})`;
    return `${label}: BROKEN at number ${number}${entry}: ${problem}`;
  }
  if (entries === 0) return `${label}: no sealed entry`;
  const count = (number: number, of: string) => `${number} ${of}${number === 1 ? '' : 's'}`;
  return `${label}: intact from number ${from} to ${to}, ${count(anchors, 'anchor')} met, ${erased} erased`;
}
