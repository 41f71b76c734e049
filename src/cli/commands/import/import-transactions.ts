import type { AppContext } from '../../../app/context.ts';
import { importTransactions, MappingError } from '../../../core-connection/index.ts';
import type { CommandOrigin } from '../../../events/index.ts';
import type { Institution } from '../../../institutions/index.ts';
import { CsvError } from '../../../shared/text/csv.ts';
import { CommandError, say } from '../../command.ts';

const refusalsShown = 100;

/** Imports a file of the core's transactions and prints each refused line. CommandError if there are any. */
export async function importTransactionsFile(
  context: AppContext,
  { institution, origin }: { readonly institution: Institution; readonly origin: CommandOrigin },
  { file, columns }: { readonly file: string; readonly columns?: string | undefined },
): Promise<void> {
  const { database, clock, businessTime, postingKeys } = context;
  const deps = { database, clock, businessTime, postingKeys, inactiveTokens: async () => new Set<never>() };
  let refused = 0;
  try {
    const counts = await importTransactions(
      deps,
      { institution, origin },
      {
        file,
        mapping: columns,
        onRefused: (answer) => {
          refused += 1;
          if (refused <= refusalsShown)
            process.stderr.write(`${file}:${answer.line}: ${answer.code}: ${answer.detail}\n`);
        },
      },
    );
    const parts = Object.entries(counts).filter(([, lines]) => lines > 0);
    say(
      `${institution.code}: ${parts.map(([result, lines]) => `${lines} ${result}`).join(', ') || 'no transactions'}.`,
    );
  } catch (error) {
    if (error instanceof MappingError) throw new CommandError(error.message);
    if (error instanceof CsvError)
      throw new CommandError(`${file}: ${error.message}. Lines before it were taken.`);
    throw error;
  }
  if (refused > 0) {
    throw new CommandError(
      `${refused} lines were refused; the others stand. Correct them and import the file again.`,
    );
  }
}
