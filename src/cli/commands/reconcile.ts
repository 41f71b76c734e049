import { Command } from 'commander';
import { type Institution, listInstitutions } from '../../institutions/index.ts';
import { reconcile, recordRun } from '../../reconciliation/index.ts';
import { chooseInstitution, say, withContext } from '../command.ts';

/** Exit code beside 0, 1 and 2: the check has finished, and found breaches. */
const somethingIsOff = 3;

export function reconcileCommand(): Command {
  return new Command('reconcile')
    .description(
      'recompute balances, holds, limits and references; prints each row that is off (exit code 3)',
    )
    .option('--institution <code>', 'only this institution; default: all, one after the other')
    .action((options: { institution?: string }) =>
      withContext(async (context) => {
        const institutions =
          options.institution === undefined
            ? await context.database.directory(listInstitutions)
            : [await chooseInstitution(context, options.institution)];
        let off = 0;
        for (const institution of institutions) {
          let offHere = 0;
          const startedAt = context.clock();
          await reconcile(context.database, institution.institutionId, {
            at: context.businessTime(institution.institutionId, context.clock()),
            onProgress: (walk, done) => progress(institution, `${done} ${walk}`),
            onFinding: ({ check, row, detail }) => {
              offHere += 1;
              progress(institution, '');
              say(`${institution.code}  ${check}  ${row}: ${detail}`);
            },
          });
          await recordRun(context.database, institution.institutionId, {
            startedAt,
            finishedAt: context.clock(),
            findings: offHere,
          });
          progress(institution, '');
          say(`${institution.code}: ${offHere === 0 ? 'everything agrees' : `${offHere} rows are off`}.`);
          off += offHere;
        }
        if (off > 0) process.exitCode = somethingIsOff;
      }),
    );
}

/** Rewrites one line, for people at a terminal. */
function progress(institution: Institution, text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text && `${institution.code}: ${text} …`}`);
}
