import { type DateForm, dayIn, MappingError, plainNumber, splitDate } from '../../core-system/index.ts';
import { instantOf } from '../../institutions/index.ts';
import { CsvError, readCsv } from '../../shared/text/csv.ts';
import { type FileMapping, fileFields } from './file-mapping.ts';
import type { Line } from './lines.ts';
import { type LineRules, readTransactionLine, type TransactionLine } from './transaction-line.ts';

/**
 * The transactions of a file in the form of its mapping, some thousands at a time. A row that cannot be read is a refusal with its
 * line. MappingError if the header lacks a column of the mapping; CsvError if the file is no table.
 */
export async function* readTransactionsFile(
  file: string,
  mapping: FileMapping,
  rules: () => LineRules,
): AsyncGenerator<Line<TransactionLine>[]> {
  let places: ReadonlyMap<string, number> | undefined;
  for await (const records of readCsv(file, mapping)) {
    const lines: Line<TransactionLine>[] = [];
    const current = rules();
    for (const { line, values } of records) {
      if (places === undefined) {
        places = placesOf(values, mapping);
        continue;
      }
      const fields = fieldsOf(values, places, { mapping, timeZone: current.timeZone });
      lines.push({
        line,
        item: readTransactionLine(fields, (name) => fields[name] as string | undefined, current),
      });
    }
    if (lines.length > 0) yield lines;
  }
  if (places === undefined) throw new CsvError(1, 'a header');
}

/** The place of each column by its name. The service's own form may lack optional columns. */
function placesOf(
  header: readonly string[],
  { columns, constants, sign }: FileMapping,
): ReadonlyMap<string, number> {
  const places = new Map(header.map((name, place) => [name.trim(), place]));
  const needed = ['id', 'accountId', 'currencyCode', 'postedAt'].flatMap((field) =>
    field in constants ? [] : (columns[field] ?? field),
  );
  const missing = [...needed, ...(typeof sign === 'object' ? [sign.column] : [])].filter(
    (name) => !places.has(name),
  );
  if (missing.length > 0) throw new MappingError(`The header has no column ${missing.join(', ')}.`);
  return places;
}

function fieldsOf(
  values: readonly string[],
  places: ReadonlyMap<string, number>,
  { mapping, timeZone }: { readonly mapping: FileMapping; readonly timeZone: string },
): Record<string, unknown> {
  const { columns, constants, sign } = mapping;
  const cellOf = (column: string) => values[places.get(column) ?? -1]?.trim() ?? '';
  const fields: Record<string, unknown> = {};
  for (const field of fileFields) {
    const column = columns[field];
    const text = (column === undefined ? '' : cellOf(column)) || (constants[field] ?? '');
    if (text === '') continue;
    fields[field] = valueIn(field, text, { mapping, timeZone });
  }
  const amount = fields.amount as string | undefined;
  const isInverted =
    sign === 'debitsPositive' || (typeof sign === 'object' && cellOf(sign.column) === sign.debit);
  if (amount !== undefined && isInverted)
    fields.amount = amount.startsWith('-') ? amount.slice(1) : `-${amount}`;
  return fields;
}

function valueIn(
  field: (typeof fileFields)[number],
  text: string,
  { mapping, timeZone }: { readonly mapping: FileMapping; readonly timeZone: string },
): unknown {
  switch (field) {
    case 'amount':
    case 'runningBalance':
      return plainNumber(text, mapping.decimal);
    case 'kind':
      return mapping.kinds[text] ?? text;
    case 'effectiveDate':
      return dayIn(text, mapping.dates) ?? text;
    case 'postedAt':
    case 'expiresAt':
      return momentIn(text, mapping.dates, timeZone) ?? text;
    case 'historic':
      return text === 'yes' ? true : text === 'no' ? false : text;
    default:
      return text;
  }
}

/** A date, alone or with a time of the institution's clock. A moment with an offset is taken as it is. */
function momentIn(text: string, form: DateForm, timeZone: string): string | undefined {
  const found = splitDate(text, form);
  if (found === undefined) return undefined;
  const [, time] = /^(?:[ T]([0-9]{2}:[0-9]{2}(?::[0-9]{2})?))?$/.exec(found.rest) ?? [];
  if (found.rest !== '' && time === undefined) return undefined;
  if (time !== undefined && (time >= '24' || /:[6-9]/.test(time))) return undefined;
  return instantOf(found.day, time ?? '00:00', timeZone).toISOString();
}
