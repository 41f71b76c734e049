import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Problem } from '../../shared/problem.ts';
import { parseJson } from '../../shared/text/json.ts';
import {
  dayIn,
  type FileForm,
  formParts,
  MappingError,
  objectOf,
  plainNumber,
  readForm,
  textsOf,
} from './file-form.ts';
import type { TableShape } from './table-shape.ts';

/** How one file of a core's own export maps to a file of an extract. */
interface TableMapping {
  /** The core's name of a column; a column that is not named has the extract's name. */
  readonly columns: Readonly<Record<string, string>>;
  /** Columns with the same value in every row. */
  readonly constants: Readonly<Record<string, string>>;
  /** The core's words in a column, and the extract's. */
  readonly values: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** How a core's own export maps to an extract. institution.csv is not the core's, and is not mapped. */
export interface ExtractMapping {
  readonly form: FileForm;
  /** By the names of the extract's files. */
  readonly files: Readonly<Record<string, TableMapping>>;
}

const mappingFile = 'extract-columns.json';

/** Reads extract-columns.json of a folder, or the named file; undefined without the former. MappingError. */
export async function readExtractMapping(
  folder: string,
  shapes: readonly TableShape[],
  named?: string,
): Promise<ExtractMapping | undefined> {
  const file = named ?? path.join(folder, mappingFile);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (named === undefined && (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new MappingError(`${file} cannot be read.`);
  }
  try {
    return mappingOf(parseJson(text).value, shapes);
  } catch (error) {
    if (error instanceof Problem) throw new MappingError(`${file}: ${error.detail}`);
    throw error instanceof MappingError ? new MappingError(`${file}: ${error.message}`) : error;
  }
}

function mappingOf(value: unknown, shapes: readonly TableShape[]): ExtractMapping {
  const given = objectOf(value, 'The mapping');
  refuseUnknown(Object.keys(given), ['files', ...formParts], 'is not a part of a mapping');
  const files = objectOf(given.files ?? {}, 'files');
  refuseUnknown(
    Object.keys(files),
    shapes.map(({ file }) => file),
    'is not a mapped file of an extract',
  );
  const tables = Object.entries(files).map(([file, table]) => {
    const { columns, optional = [] } = shapes.find((shape) => shape.file === file) as TableShape;
    return [file, tableOf(table, file, [...columns, ...optional])];
  });
  return { form: readForm(given), files: Object.fromEntries(tables) };
}

function tableOf(value: unknown, file: string, known: readonly string[]): TableMapping {
  const given = objectOf(value, file);
  refuseUnknown(
    Object.keys(given),
    ['columns', 'constants', 'values'],
    `is not a part of the mapping of ${file}`,
  );
  const columns = textsOf(given.columns ?? {}, `${file}: columns`);
  const constants = textsOf(given.constants ?? {}, `${file}: constants`);
  const values = Object.fromEntries(
    Object.entries(objectOf(given.values ?? {}, `${file}: values`)).map(([column, words]) => [
      column,
      textsOf(words, `${file}: values of ${column}`),
    ]),
  );
  for (const part of [columns, constants, values])
    refuseUnknown(Object.keys(part), known, `is not a column of ${file}`);
  return { columns, constants, values };
}

function refuseUnknown(given: readonly string[], known: readonly string[], sentence: string): void {
  const strange = given.filter((name) => !known.includes(name));
  if (strange.length > 0) throw new MappingError(`${strange.join(', ')} ${sentence}.`);
}

const dateColumns = ['birth_date', 'next_due_on'];
const amountColumns = [
  'balance',
  'overdraft_limit',
  'credit_limit',
  'accrued_interest',
  'fees_due',
  'amount_due',
];

/** The records of a core's file, as those of the extract's file: the same lines, with the extract's columns and values. */
export function translator(
  { form, files }: ExtractMapping,
  { file, columns, optional = [] }: TableShape,
): (values: readonly string[], isHeader: boolean) => readonly string[] {
  const {
    columns: names,
    constants,
    values: words,
  } = files[file] ?? { columns: {}, constants: {}, values: {} };
  /** The extract's columns that the core's file has, with the place there. */
  let found: { readonly column: string; readonly place: number }[] = [];
  const fixed = Object.entries(constants);
  const translate = (column: string, given: string): string => {
    const text = given.trim();
    const word = words[column]?.[text];
    if (word !== undefined) return word;
    // What is no date or number stays, so that the error names its column.
    if (dateColumns.includes(column)) return dayIn(text, form.dates) ?? text;
    return amountColumns.includes(column) ? plainNumber(text, form.decimal) : given;
  };
  return (values, isHeader) => {
    if (isHeader) {
      const header = values.map((name) => name.trim());
      found = [...columns, ...optional].flatMap((column) => {
        if (column in constants) return [];
        const name = names[column] ?? column;
        // A name that comes twice is an error of the header.
        return header.flatMap((one, place) => (one === name ? [{ column, place }] : []));
      });
      return [...found.map(({ column }) => column), ...fixed.map(([column]) => column)];
    }
    const translated = found.map(({ column, place }) => translate(column, values[place] ?? ''));
    return [...translated, ...fixed.map(([, value]) => value)];
  };
}
