import { CsvError, readCsv } from '../../../shared/text/csv.ts';
import type { Line } from '../../intake/lines.ts';
import { type BalanceLine, readBalanceLine } from './balance-line.ts';

/** The columns by their names in lower case without `_`, so that account_id and accountId are one. */
const fieldsByName: Readonly<Record<string, string>> = {
  accountid: 'accountId',
  balance: 'balance',
  currency: 'currencyCode',
  currencycode: 'currencyCode',
  transactionid: 'transactionId',
  amount: 'amount',
};

/**
 * The lines of a file with a header: account_id, balance and currency_code; or of the core's list of its postings, with
 * transaction_id and amount in place of the balance. CsvError if the file is no such table.
 */
export async function* readBalancesFile(file: string): AsyncGenerator<Line<BalanceLine>[]> {
  let header: readonly (string | undefined)[] | undefined;
  for await (const records of readCsv(file)) {
    const lines: Line<BalanceLine>[] = [];
    for (const { line, values } of records) {
      if (header === undefined) {
        header = values.map((name) => fieldsByName[name.trim().toLowerCase().replaceAll('_', '')]);
        const isOfPostings = header.includes('transactionId');
        const needed = ['accountId', 'currencyCode', isOfPostings ? 'amount' : 'balance'];
        const missing = needed.filter((name) => !header?.includes(name));
        if (missing.length > 0) throw new CsvError(line, `the columns ${missing.join(', ')}`);
        continue;
      }
      const fields: Record<string, string> = {};
      for (const [place, name] of header.entries()) {
        const value = values[place]?.trim() ?? '';
        if (name !== undefined && value !== '') fields[name] = value;
      }
      lines.push({ line, item: readBalanceLine(fields, (name) => fields[name]) });
    }
    if (lines.length > 0) yield lines;
  }
  if (header === undefined) throw new CsvError(1, 'a header');
}
