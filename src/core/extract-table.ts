import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { currencyDecimals, formatMinor } from '../ledger/index.ts';
import { isReadable } from '../readable-text.ts';

/** What is wrong with one value of an extract. Never the value itself: it may be what must not be written down. */
export function misfit(file: string, line: number, column: string, expected: string): string {
  return `${file}:${line}: ${column}: expected ${expected}`;
}

/** One line of a file, which knows where it stands when something is wrong with it. */
export class Row {
  readonly line: number;
  readonly #file: string;
  readonly #values: ReadonlyMap<string, string>;
  readonly #errors: string[];

  constructor(file: string, line: number, values: ReadonlyMap<string, string>, errors: string[]) {
    this.line = line;
    this.#file = file;
    this.#values = values;
    this.#errors = errors;
    for (const [column, value] of values) {
      if (/\p{Cc}/u.test(value)) this.fail(column, 'text without control characters');
      else if (!isReadable(value)) this.fail(column, 'text without bidirectional or invisible characters');
    }
  }

  fail(column: string, expected: string): void {
    this.#errors.push(misfit(this.#file, this.line, column, expected));
  }

  /** Whether the file has the column at all: where it may be missing, nothing is said by it. */
  has(column: string): boolean {
    return this.#values.has(column);
  }

  text(column: string): string {
    return this.#values.get(column)?.trim() ?? '';
  }

  match(column: string, pattern: RegExp, expected: string): string {
    const text = this.text(column);
    if (!pattern.test(text)) this.fail(column, expected);
    return text;
  }

  /** Null when empty. */
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
    // A currency that does not exist has been complained of by itself.
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

  refer<T>(column: string, known: ReadonlyMap<string, T>, where: string): T | undefined {
    const found = known.get(this.text(column));
    if (found === undefined) this.fail(column, `one of ${where}`);
    return found;
  }
}

interface Line {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

/**
 * The rows of a CSV file (RFC 4180) in UTF-8 with exactly these columns, in any order, and the `optional` ones where it
 * has them. What it is not is added to `errors`, and the rows are then not to be trusted.
 */
export async function readTable(
  folder: string,
  file: string,
  columns: readonly string[],
  errors: string[],
  optional: readonly string[] = [],
): Promise<Row[]> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path.join(folder, file));
  } catch (error) {
    errors.push(`${file}:1: expected a file that can be read (${(error as NodeJS.ErrnoException).code})`);
    return [];
  }
  const text = decode(bytes);
  if (text === undefined) {
    errors.push(`${file}:${firstLineNotInUtf8(bytes)}: expected UTF-8`);
    return [];
  }

  let lines: Line[];
  try {
    const options = { info: true, skip_empty_lines: true, relax_column_count: true } as const;
    // Its types do not know what `info` does to the result.
    lines = parse(text, options) as unknown as Line[];
  } catch (error) {
    errors.push(`${file}:${(error as { lines?: number }).lines ?? 1}: expected CSV as in RFC 4180`);
    return [];
  }
  const header = lines[0]?.record.map((name) => name.trim()) ?? [];
  const all = [...columns, ...optional];
  for (const column of all) {
    const times = header.filter((name) => name === column).length;
    const fits = times === 1 || (times === 0 && optional.includes(column));
    if (!fits) errors.push(`${file}:1: expected one column ${column}, found ${times}`);
  }
  const unknown = header.filter((name) => !all.includes(name));
  if (unknown.length > 0) errors.push(`${file}:1: expected no columns but ${all.join(', ')}`);

  return lines.slice(1).map(({ record, info }) => {
    if (record.length !== header.length) {
      errors.push(`${file}:${info.lines}: expected ${header.length} values, found ${record.length}`);
    }
    const values = new Map(header.map((name, index) => [name, record[index] ?? '']));
    return new Row(file, info.lines, values, errors);
  });
}

/** Adds an error for each row that repeats the key of an earlier one. */
export function expectUnique(rows: readonly Row[], ...columns: readonly string[]): void {
  const seen = new Set<string>();
  for (const row of rows) {
    const key = columns.map((column) => row.text(column)).join('\0');
    if (seen.has(key)) row.fail(columns.join(', '), 'what no line above has');
    seen.add(key);
  }
}

/** Undefined for bytes that are not UTF-8; a byte order mark is dropped. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function firstLineNotInUtf8(bytes: Buffer): number {
  let line = 1;
  for (let start = 0; start < bytes.length; line += 1) {
    const end = bytes.indexOf('\n', start);
    const past = end === -1 ? bytes.length : end + 1;
    if (decode(bytes.subarray(start, past)) === undefined) return line;
    start = past;
  }
  return 1;
}
