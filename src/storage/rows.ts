import { counted, type InstitutionId, type Write } from './statement.ts';

export type Cell = string | bigint | number | boolean | Date | Uint8Array | null | undefined;

/**
 * Rows as one value: an array of a composite type, with the cells in the order of its columns. The database reads it faster
 * than an array of each column, all of which `unnest` has to put side by side again (ADR 12).
 */
export function rowsOf<Item>(items: readonly Item[], cellsOf: (item: Item) => readonly Cell[]): string {
  let rows = '';
  for (const item of items) {
    let cells = '';
    for (const cell of cellsOf(item)) cells += `,${asText(cell)}`;
    rows += `,"(${cells.slice(1)})"`;
  }
  return `{${rows.slice(1)}}`;
}

/**
 * Rows as one JSON text for `rowsIn`: the member `memberNumber` is the column `member_number`. An omitted member is null. It
 * costs more to read than `rowsOf`, but names each cell, so that a table can be widened while an older program writes.
 */
export function jsonOf(items: readonly object[]): string {
  let rows = '';
  for (const item of items) {
    let cells = '';
    for (const [member, cell] of Object.entries(item)) {
      // A JSON number would pass through a float.
      const text = typeof cell === 'bigint' ? `"${cell}"` : JSON.stringify(cell);
      if (text !== undefined) cells += `,"${columnOf(member)}":${text}`;
    }
    rows += `,{${cells.slice(1)}}`;
  }
  return `[${rows.slice(1)}]`;
}

/** SQL: the rows of a JSON parameter, with the types of a table's columns. */
export function rowsIn(parameter: string, table: string): string {
  return `json_populate_recordset(null::${table}, ${parameter}::json)`;
}

/** An insert of rows that arrive as `jsonOf` ($2) into these columns of an institution's table. */
export function insertOf(table: string, columns: string): string {
  return `insert into ${table} (institution_id, ${columns}) select $1, ${columns} from ${rowsIn('$2', table)}`;
}

const columnNames = new Map<string, string>();

function columnOf(member: string): string {
  let column = columnNames.get(member);
  if (column === undefined) {
    column = member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    columnNames.set(member, column);
  }
  return column;
}

/**
 * A write that inserts rows of an institution, with an array for each column of this type; it fails unless all are written. No
 * rows, no write.
 */
export function inserting<Item>(
  name: string,
  table: string,
  types: Readonly<Partial<Record<keyof Item & string, string>>>,
): (institutionId: InstitutionId, rows: readonly Item[]) => readonly Write[] {
  const members = Object.keys(types) as (keyof Item & string)[];
  const columns = members.map(columnOf).join(', ');
  const arrays = members.map((member, place) => `$${place + 2}::${types[member]}[]`);
  const statement = counted(
    name,
    table,
    `cardinality(${arrays[0]})`,
    `insert into ${table} (institution_id, ${columns})
     select $1, ${columns} from unnest(${arrays.join(', ')}) as v (${columns})`,
  );
  return (institutionId, rows) =>
    rows.length === 0 ? [] : [{ statement, values: [institutionId, ...columnsOf(rows, ...members)] }];
}

/** Rows as one array of each of these columns, for a statement that runs seldom or with few rows. */
export function columnsOf<Item>(items: readonly Item[], ...columns: readonly (keyof Item)[]): unknown[][] {
  return columns.map((column) => items.map((item) => item[column] ?? null));
}

/** Nothing at all is null; what is quoted is text, also when it is empty. */
function asText(cell: Cell): string | bigint | number | boolean {
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'string') return plain.test(cell) ? cell : quoted(cell);
  if (typeof cell !== 'object') return cell;
  if (cell instanceof Date) return quoted(cell.toISOString());
  return quoted(`\\x${Buffer.from(cell).toString('hex')}`);
}

const plain = /^[\w.:-]+$/;

/** A cell within a row, which is quoted itself: so each quote and backslash is escaped twice. */
function quoted(text: string): string {
  return `\\"${text.replaceAll(/["\\]/g, '\\\\\\$&')}\\"`;
}
