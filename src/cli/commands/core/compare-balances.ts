import type { AppContext } from '../../../app/context.ts';
import {
  compareBalances,
  readBalancesFile,
  TooManyDifferencesError,
} from '../../../core-connection/index.ts';
import type { CommandOrigin } from '../../../events/index.ts';
import type { Institution } from '../../../institutions/index.ts';
import { Problem } from '../../../shared/problem.ts';
import { CsvError } from '../../../shared/text/csv.ts';
import { CommandError, say } from '../../command.ts';

const refusalsShown = 100;
const dayMillis = 24 * 60 * 60_000;

interface Wanted {
  readonly file: string;
  readonly asOf?: Date;
  readonly since?: Date;
  readonly complete?: true;
}

/** Compares a file of the core's balances and prints the result. Returns the number of accounts that differ, and of open postings. */
export async function compareBalancesFile(
  context: AppContext,
  { institution, origin }: { readonly institution: Institution; readonly origin: CommandOrigin },
  { file, asOf, since, complete }: Wanted,
): Promise<number> {
  if (asOf === undefined) throw new CommandError('--core needs --as-of, the moment of the balances.');
  const deps = { ...context, inactiveTokens: async () => new Set<never>() };
  const request = {
    asOf,
    isComplete: complete === true,
    since: since ?? new Date(asOf.getTime() - dayMillis),
  };
  const answers = compareBalances(deps, { institution, origin }, request, readBalancesFile(file));
  try {
    let shown = 0;
    for (;;) {
      const step = await answers.next();
      if (!step.done) {
        for (const answer of step.value) {
          shown += 1;
          if (shown <= refusalsShown && 'code' in answer)
            process.stderr.write(`${file}:${answer.line}: ${answer.code}: ${answer.detail}\n`);
        }
        continue;
      }
      const { accounts, postings, inFlight, differing, opened, changed, closed, refused } = step.value;
      const listed = postings === 0 ? '' : `, ${postings} postings`;
      say(
        `${institution.code}: ${accounts} accounts${listed} compared; ${inFlight} differ by instructions under way, ${differing} otherwise. ` +
          `Breaks: ${opened} opened, ${changed} changed, ${closed} closed.`,
      );
      if (refused > 0) throw new CommandError(`${refused} lines were refused; the others were compared.`);
      return differing + opened;
    }
  } catch (error) {
    if (error instanceof CsvError) throw new CommandError(`${file}: ${error.message}. Nothing was compared.`);
    if (error instanceof TooManyDifferencesError) throw new CommandError(error.message);
    if (error instanceof Problem && error.code === 'invalid_request') {
      throw new CommandError(`--as-of: ${error.errors?.[0]?.detail ?? error.detail}`);
    }
    throw error;
  }
}
