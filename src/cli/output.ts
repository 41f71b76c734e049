import { Option } from 'commander';
import { say } from './command.ts';

/*
 * The output of the commands that show something. People get a table; programs ask for --json and get the same documents, one a
 * line in a list. The members of a document are its stable shape; docs/operations.md describes it.
 */

export interface OutputOptions {
  readonly json?: true;
}

export function jsonOption(): Option {
  return new Option('--json', 'for programs: a JSON document; in a list one a line');
}

type Cell = string | number | boolean | bigint | Date | null | undefined | readonly Cell[];
type Document = Readonly<Record<string, unknown>>;

/** Rows of a list that are aligned together; a longer list is printed in parts. */
const rowsAligned = 200;

interface List<Row> {
  /** The headings of the table, each with its cell. */
  readonly columns: Readonly<Record<string, (row: Row) => Cell>>;
  readonly document: (row: Row) => Document;
  /** The sentence for people in place of an empty table. */
  readonly none: string;
}

/** Prints a list. Returns the number of its rows. */
export async function sayList<Row>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  { columns, document, none }: List<Row>,
  { json }: OutputOptions,
): Promise<number> {
  let count = 0;
  let waiting: Row[] = [];
  const flush = () => {
    const cells = waiting.map((row) => Object.values(columns).map((cellOf) => textOf(cellOf(row))));
    if (count <= rowsAligned) cells.unshift(Object.keys(columns));
    if (waiting.length > 0) say(aligned(cells));
    waiting = [];
  };
  for await (const row of rows) {
    count += 1;
    if (json) {
      say(jsonOf(document(row)));
      continue;
    }
    waiting.push(row);
    if (waiting.length === rowsAligned) flush();
  }
  if (json) return count;
  if (count === 0) say(none);
  else flush();
  return count;
}

/** Prints things of several lines each, or of a form of their own. */
export async function sayEach<Row>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  { text, document, none }: { text(row: Row): string; document(row: Row): Document; readonly none?: string },
  { json }: OutputOptions,
): Promise<void> {
  let count = 0;
  for await (const row of rows) {
    count += 1;
    say(json ? jsonOf(document(row)) : text(row));
  }
  if (count === 0 && !json && none !== undefined) say(none);
}

/** A table below the facts of a document. */
export interface Part {
  readonly title: string;
  readonly rows: readonly (readonly Cell[])[];
  readonly headings: readonly string[];
  readonly none: string;
}

interface Shown {
  readonly document: Document;
  /** A fact without a value is left out. */
  readonly facts: readonly (readonly [name: string, value: Cell])[];
  readonly parts?: readonly Part[];
}

/** Prints one thing: its facts, then its tables. */
export function sayOne({ document, facts, parts = [] }: Shown, { json }: OutputOptions): void {
  if (json) {
    say(jsonOf(document, 2));
    return;
  }
  const known = facts.map(([name, value]) => [name, textOf(value)]).filter(([, text]) => text !== '');
  const tables = parts.map(({ title, headings, rows, none }) =>
    rows.length === 0
      ? `\n${title}: ${none}`
      : `\n${title}\n${indented(aligned([headings, ...rows.map((row) => row.map(textOf))]))}`,
  );
  say([aligned(known), ...tables].join('\n'));
}

function indented(text: string): string {
  return text.replace(/^/gm, '  ');
}

function textOf(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  if (cell instanceof Date) return cell.toISOString();
  return Array.isArray(cell) ? cell.map(textOf).join(' ') : String(cell);
}

/** Columns of equal width, two spaces apart. */
export function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
  return rows.map((row) => line(row).join('  ').trimEnd()).join('\n');
}

/** Numbers of entries and events are safe integers; amounts are text before they get here. */
function jsonOf(document: Document, indent?: number): string {
  return JSON.stringify(document, (_, value) => (typeof value === 'bigint' ? Number(value) : value), indent);
}
