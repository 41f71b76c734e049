import { useState } from 'preact/hooks';
import { Button, Empty } from '../design/components.ts';
import { compareAmounts } from '../design/format/money.ts';
import { type Children, html } from '../design/html.ts';
import { csvOf } from './csv.ts';
import { Group, useGroups, useWidths } from './rows.ts';

export interface Column<Row> {
  readonly title: string;
  /** For sorting. */
  readonly text: (row: Row) => string;
  /** For the file. Default: the text. */
  readonly inFile?: (row: Row) => string;
  /** Default: the text. */
  readonly cell?: (row: Row) => Children;
  readonly isNumeric?: boolean;
}

interface TableProps<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** The name of the file; without one the table has no export. */
  readonly file?: string;
  readonly empty: string;
  /** The row that the keys of a screen act on. */
  readonly current?: string | undefined;
}

interface Order {
  readonly at: number;
  readonly isDescending: boolean;
}

/** Rows that sort by each column, as far as they are loaded, and that can be saved as CSV. */
export function Table<Row>({ caption, columns, rows, keyOf, file, empty, current }: TableProps<Row>) {
  const [order, setOrder] = useState<Order>();
  const column = order && columns[order.at];
  const sorted = column
    ? rows.toSorted((left, right) => compare(column, left, right) * (order.isDescending ? -1 : 1))
    : rows;
  const groups = useGroups(sorted);
  const { table, widths } = useWidths(groups.length > 1);
  if (rows.length === 0) return html`<${Empty}>${empty}<//>`;
  const sortBy = (at: number) => setOrder({ at, isDescending: order?.at === at && !order.isDescending });
  const save = () => saveRows(`${file}.csv`, columns, sorted);
  return html`<div class="table-frame" tabindex="0" role="group" aria-label=${caption}>
    <table ref=${table} class="table" data-fixed=${widths !== undefined}>
      <caption class="visually-hidden">${caption}</caption>
      ${widths && html`<colgroup>${widths.map((width, at) => html`<col key=${at} style=${{ width: `${width}px` }} />`)}</colgroup>`}
      <thead><tr>${columns.map(
        (
          { title, isNumeric },
          at,
        ) => html`<th key=${title} scope="col" data-numeric=${isNumeric} aria-sort=${sortOf(order, at)}>
          <button type="button" onClick=${() => sortBy(at)}>${title}</button>
        </th>`,
      )}</tr></thead>
      ${groups.map(
        (
          group,
        ) => html`<${Group} key=${keyOf(group[0] as Row)} rows=${group} columns=${columns} keyOf=${keyOf}
          current=${group.some((row) => keyOf(row) === current) ? current : undefined} isAlone=${groups.length === 1} />`,
      )}
    </table>
  </div>
  ${file && html`<div class="table-foot"><${Button} kind="text" onPress=${save}>Save as CSV<//></div>`}`;
}

function sortOf(order: Order | undefined, at: number): string | undefined {
  if (order?.at !== at) return undefined;
  return order.isDescending ? 'descending' : 'ascending';
}

/** Amounts by their value, and digit by digit: they may be longer than a double. */
function compare<Row>({ text, isNumeric }: Column<Row>, left: Row, right: Row): number {
  const [one, other] = [text(left), text(right)];
  return isNumeric ? compareAmounts(one, other) : one.localeCompare(other);
}

/** Saves rows as a file of the browser. */
export function saveRows<Row>(name: string, columns: readonly Column<Row>[], rows: readonly Row[]): void {
  const titles = columns.map(({ title }) => title);
  const lines = rows.map((row) => columns.map(({ text, inFile = text }) => inFile(row)));
  const text = csvOf(titles, lines);
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
