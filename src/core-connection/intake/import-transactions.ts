import { access } from 'node:fs/promises';
import path from 'node:path';
import { type FileMapping, ownMapping, readMapping } from './file-mapping.ts';
import { readTransactionsFile } from './read-file.ts';
import type { Answer, Delivery } from './take-delivery.ts';
import { type IntakeDeps, type TransactionCounts, takeTransactions } from './take-transactions.ts';

/** The transactions in an extract's folder, and the mapping beside them. */
export const transactionsFile = 'transactions.csv';
const mappingFile = 'columns.json';

/** Whether the file exists. */
export function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/**
 * Takes the transactions of a file, by the mapping given or else by columns.json beside the file if there is one. Each wrong line is
 * passed to `onRefused` and changes nothing. Importing a file again posts nothing twice.
 *
 * MappingError, CsvError; Problem `database_unavailable` and `overloaded` after some patience. Lines before the error stand.
 */
export async function importTransactions(
  deps: IntakeDeps,
  delivery: Delivery,
  {
    file,
    mapping,
    onRefused,
  }: {
    readonly file: string;
    readonly mapping?: string | undefined;
    readonly onRefused: (answer: Answer) => void;
  },
): Promise<TransactionCounts> {
  const form = await mappingFor(file, mapping);
  const { institutionId, timeZone } = delivery.institution;
  const rules = () => ({ now: deps.businessTime(institutionId, deps.clock()), timeZone });
  const answers = takeTransactions(deps, delivery, readTransactionsFile(file, form, rules));
  for (;;) {
    const step = await answers.next();
    if (step.done) return step.value;
    for (const answer of step.value) if (answer.code !== undefined) onRefused(answer);
  }
}

async function mappingFor(file: string, mapping: string | undefined): Promise<FileMapping> {
  if (mapping !== undefined) return readMapping(mapping);
  const beside = path.join(path.dirname(file), mappingFile);
  return (await exists(beside)) ? readMapping(beside) : ownMapping;
}
