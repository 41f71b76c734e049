import { Command } from 'commander';
import { type Institution, listInstitutions } from '../../../institutions/index.ts';
import {
  findCheckpoint,
  KeptFindings,
  reconcile,
  reconcileChanges,
  recordRun,
} from '../../../reconciliation/index.ts';
import { readMoment } from '../../arguments.ts';
import { chooseInstitution } from '../../chosen-institution.ts';
import { CommandError, say, withContext } from '../../command.ts';
import { compareBalancesFile } from '../core/compare-balances.ts';

/** Exit code beside 0, 1 and 2: the check has finished, and found breaches. */
const somethingIsOff = 3;

interface Options {
  readonly institution?: string;
  readonly changes?: true;
  readonly core?: string;
  readonly asOf?: Date;
  readonly complete?: true;
  readonly since?: Date;
}

export function run(): Command {
  return new Command('run')
    .description(
      'recompute balances, holds, limits and references; prints each row that is off (exit code 3)',
    )
    .option('--institution <code>', 'only this institution; default: all, one after the other')
    .option(
      '--changes',
      'only the rows that changed since the last run that found nothing; checks every row if there is none',
    )
    .option(
      '--core <file>',
      "compare the core's balances in this file with ours instead; each difference is a break",
    )
    .option(
      '--as-of <moment>',
      'with --core: the moment of the balances, like 2026-03-02T06:00:00-05:00',
      readMoment,
    )
    .option('--complete', 'with --core: the file has all accounts, so a missing one is a break')
    .option(
      '--since <moment>',
      "with --core: the beginning of the core's list of postings; default: a day before",
      readMoment,
    )
    .action((options: Options) =>
      withContext(async (context, origin) => {
        if (options.core !== undefined) {
          const institution = await chooseInstitution(context, options.institution);
          const differing = await compareBalancesFile(
            context,
            { institution, origin },
            { ...options, file: options.core },
          );
          if (differing > 0) process.exitCode = somethingIsOff;
          return;
        }
        for (const name of ['asOf', 'complete', 'since'] as const) {
          if (options[name] !== undefined)
            throw new CommandError('--as-of, --complete and --since belong to --core.');
        }
        const institutions =
          options.institution === undefined
            ? await context.database.directory(listInstitutions)
            : [await chooseInstitution(context, options.institution, { orCopy: true })];
        let off = 0;
        for (const institution of institutions) {
          const { institutionId } = institution;
          const since = options.changes ? await findCheckpoint(context.database, institutionId) : undefined;
          if (options.changes && since === undefined)
            say(`${institution.code}: no checkpoint, so every row is checked.`);
          const startedAt = context.clock();
          const findings = new KeptFindings();
          const checks: Parameters<typeof reconcile>[2] = {
            at: context.businessTime(institutionId, context.clock()),
            onProgress: (walk, done) => progress(institution, `${done} ${walk}`),
            onFinding: (finding) => {
              const { check, row, detail } = finding;
              findings.add(finding);
              progress(institution, '');
              say(`${institution.code}  ${check}  ${row}: ${detail}`);
            },
          };
          const checkpoint =
            since === undefined
              ? await reconcile(context.database, institutionId, checks)
              : await reconcileChanges(context.database, institutionId, since, checks);
          await recordRun(context.database, institutionId, {
            startedAt,
            finishedAt: context.clock(),
            findings,
            since,
            checkpoint,
          });
          progress(institution, '');
          const checked =
            since === undefined ? 'everything' : `everything changed since ${since.at.toISOString()}`;
          say(
            `${institution.code}: ${findings.total === 0 ? `${checked} agrees` : `${findings.total} rows are off`}.`,
          );
          off += findings.total;
        }
        if (off > 0) process.exitCode = somethingIsOff;
      }),
    );
}

/** Rewrites one line, for people at a terminal. */
function progress(institution: Institution, text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text && `${institution.code}: ${text} …`}`);
}
