import path from 'node:path';
import { currencyDecimals, formatMinor } from '../../ledger/index.ts';
import { CsvError, readCsv } from '../../shared/text/csv.ts';
import { isReadable } from '../../shared/text/readable-text.ts';
import { type ExtractMapping, translator } from './extract-mapping.ts';
import type { TableShape } from './table-shape.ts';

/** The place of a value. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: string;
}

/** The error of one value of an extract, without the value itself: it may be secret. */
export function misfit({ file, line, column }: Place, expected: string): string {
  return `${file}:${line}: ${column}: expected ${expected}`;
}

/** Receives the errors of an extract. */
export interface ErrorList {
  push(error: string): unknown;
}

/** The table of a row: the place of each column, and the receiver of its errors. */
interface RowTable {
  readonly places: ReadonlyMap<string, number>;
  fail(error: { readonly line: number; readonly column: string; readonly expected: string }): void;
}

/** One line of a file, or one record of a stream. */
export class Row {
  readonly line: number;
  readonly #table: RowTable;
  readonly #places: ReadonlyMap<string, number>;
  #values: readonly string[];

  constructor(
    table: RowTable,
    { line, values }: { readonly line: number; readonly values: readonly string[] },
  ) {
    this.line = line;
    this.#table = table;
    this.#places = table.places;
    this.#values = values;
    if (values.some((value) => /[^ -~]/.test(value))) this.#refuseUnreadable();
  }

  #refuseUnreadable(): void {
    for (const [column, place] of this.#places) {
      const value = this.#values[place] ?? '';
      if (/\p{Cc}/u.test(value)) this.fail(column, 'text without control characters');
      else if (!isReadable(value)) this.fail(column, 'text without bidirectional or invisible characters');
    }
    // The database rejects NUL in text.
    this.#values = this.#values.map((value) => value.replaceAll('\0', ''));
  }

  fail(column: string, expected: string): void {
    this.#table.fail({ line: this.line, column, expected });
  }

  /** Whether the file has the optional column. */
  has(column: string): boolean {
    return this.#places.has(column);
  }

  text(column: string): string {
    const place = this.#places.get(column);
    return place === undefined ? '' : (this.#values[place]?.trim() ?? '');
  }

  match(column: string, pattern: RegExp, expected: string): string {
    const text = this.text(column);
    if (!pattern.test(text)) this.fail(column, expected);
    return text;
  }

  /** Null if empty. */
  optional(column: string, fits: (text: string) => boolean, expected: string): string | null {
    const text = this.text(column);
    if (text === '') return null;
    if (!fits(text)) this.fail(column, expected);
    return text;
  }

  oneOf(column: string, choices: readonly string[]): string {
    const text = this.text(column);
    if (!choices.includes(text)) this.fail(column, choices.join(' or '));
    return text;
  }

  yes(column: string): boolean {
    return this.oneOf(column, ['yes', 'no']) === 'yes';
  }

  currency(column: string): string {
    const currency = this.text(column);
    if (currencyDecimals(currency) === undefined) this.fail(column, 'an ISO 4217 code like USD');
    return currency;
  }

  /** Major units with at most the currency's decimals and 13 digits before them, possibly negative; empty is zero. */
  amount(column: string, currency: string): bigint {
    const text = this.text(column);
    const decimals = currencyDecimals(currency);
    // An unknown currency is an error of its own column.
    if (text === '' || decimals === undefined) return 0n;
    const [, sign, integer, fraction = ''] = /^(-?)([0-9]{1,13})(?:\.([0-9]+))?$/.exec(text) ?? [];
    if (integer === undefined || fraction.length > decimals) {
      this.fail(column, `an amount like ${formatMinor(123_456n, currency)}`);
      return 0n;
    }
    const minor = BigInt(integer + fraction.padEnd(decimals, '0'));
    return sign === '-' ? -minor : minor;
  }

  amountFromZero(column: string, currency: string): bigint {
    const minor = this.amount(column, currency);
    if (minor < 0n) this.fail(column, 'no negative amount');
    return minor;
  }
}

/** The receivers of the errors of a file, and its form if it is a core's own. */
interface Reading {
  readonly values: ErrorList;
  readonly broken?: ErrorList;
  /** Gets the errors of a row instead of `values` and `broken`; a row with too few or too many values is then left out. */
  readonly onMisfit?: ((place: Place, expected: string) => void) | undefined;
  readonly mapping?: ExtractMapping | undefined;
}

/**
 * The rows of a CSV file (RFC 4180) in UTF-8, some thousands at a time. The file has exactly these columns in any order, and any
 * of the `optional` ones; with a mapping, it has the core's columns instead, and others are left out. Errors of its values are added to `values`; errors that make the file unreadable as a table are added to
 * `broken`, because they cause errors in its values and in files that refer to it.
 */
export async function* readRows(
  folder: string,
  shape: TableShape,
  { values: errors, broken = errors, onMisfit, mapping }: Reading,
): AsyncGenerator<Row[]> {
  const { file, columns, optional = [] } = shape;
  const translate = mapping && translator(mapping, shape);
  let header: string[] | undefined;
  let width = 0;
  let places = new Map<string, number>();
  const fail = (line: number, expected: string) => {
    broken.push(`${file}:${line}: expected ${expected}`);
  };
  const failValue = ({ line, column, expected }: Omit<Place, 'file'> & { readonly expected: string }) => {
    const place = { file, line, column };
    if (onMisfit === undefined) errors.push(misfit(place, expected));
    else onMisfit(place, expected);
  };
  const readHeader = (names: readonly string[]) => {
    header = names.map((name) => name.trim());
    places = new Map(header.map((name, place) => [name, place]));
    const all = [...columns, ...optional];
    for (const column of all) {
      const times = header.filter((name) => name === column).length;
      const fits = times === 1 || (times === 0 && optional.includes(column));
      if (!fits) fail(1, `one column ${column}, found ${times}`);
    }
    if (header.some((name) => !all.includes(name))) fail(1, `no columns except ${all.join(', ')}`);
  };
  try {
    for await (const records of readCsv(path.join(folder, file), mapping?.form)) {
      const rows: Row[] = [];
      for (const { line, values: given } of records) {
        const values = translate?.(given, header === undefined) ?? given;
        if (header === undefined) {
          width = given.length;
          readHeader(values);
          continue;
        }
        if (given.length !== width) {
          const expected = `${width} values, found ${given.length}`;
          if (onMisfit === undefined) fail(line, expected);
          else {
            onMisfit({ file, line, column: '' }, expected);
            continue;
          }
        }
        rows.push(new Row({ places, fail: failValue }, { line, values }));
      }
      yield rows;
    }
    if (header === undefined) readHeader([]);
  } catch (error) {
    if (error instanceof CsvError) fail(error.line, error.expected);
    else if (isFileError(error)) fail(1, `a readable file (${error.code})`);
    else throw error;
  }
}

function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && (error as NodeJS.ErrnoException).syscall !== undefined;
}

/** All rows of a small file. */
export async function readTable(folder: string, shape: TableShape, errors: ErrorList): Promise<Row[]> {
  const all: Row[] = [];
  for await (const rows of readRows(folder, shape, { values: errors })) all.push(...rows);
  return all;
}

/** Adds an error for each row that repeats the key of an earlier one. */
export function expectUnique(rows: readonly Row[], ...columns: readonly string[]): void {
  const seen = new Set<string>();
  for (const row of rows) {
    const key = columns.map((column) => row.text(column)).join('\0');
    if (seen.has(key)) row.fail(columns.join(', '), 'a value that no line above has');
    seen.add(key);
  }
}
