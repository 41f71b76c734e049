import { Button, Empty } from '../design/components.ts';
import { compareAmounts } from '../design/format/money.ts';
import { type Children, html } from '../design/html.ts';
import { csvOf } from './csv.ts';
import { filterRows } from './filter-rows.ts';
import { nextOrder, type Order, orderIn, slugOf, textOfOrder } from './order.ts';
import { setViewPart, viewPart } from './router.ts';
import { Group, useGroups, useWidths } from './rows.ts';

export interface Column<Row> {
  readonly title: string;
  /** For sorting and the filter. */
  readonly text: (row: Row) => string;
  /** For the file. Default: the text. */
  readonly inFile?: (row: Row) => string;
  /** Default: the text. */
  readonly cell?: (row: Row) => Children;
  readonly isNumeric?: boolean;
  /** Words that wrap, where the cells of other columns have one line. */
  readonly isLong?: boolean;
  /** Buttons, which have no place in a file and no order. */
  readonly isActs?: boolean;
}

interface TableProps<Row> {
  /** Also the name of the table in the address: no other table of the screen has it. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** The name of the file. Default: that of the caption. */
  readonly file?: string;
  /** The rows are the first of a longer list, whose owner filters and saves it as a whole. */
  readonly isPart?: boolean;
  /** The rows are read in one order, so that no head sorts. */
  readonly keepsOrder?: boolean;
  readonly empty: Children;
  /** The row that the keys of a screen act on. */
  readonly current?: string | undefined;
}

/** Fewer rows are read at a glance. */
const leastFiltered = 6;
/** So many columns fit on a phone. */
const mostBeside = 2;
const longestFilter = 100;

/**
 * Rows that sort by each column, as far as they are loaded, that can be filtered, and saved as CSV. Order and filter stand in the address; a
 * value that fits no column, as in a link of an older version, counts as none.
 */
export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
  file = caption.toLowerCase().replaceAll(' ', '-'),
  isPart = false,
  keepsOrder = false,
  empty,
  current,
}: TableProps<Row>) {
  const name = slugOf(caption);
  const titles = columns.map(({ title }) => title);
  const order = orderIn(viewPart(`${name}.sort`), titles);
  const text = viewPart(`${name}.filter`).slice(0, longestFilter);
  // The keys of a screen move through all rows: a filter would hide the one that they act on.
  const hasFilter = !isPart && current === undefined && (rows.length >= leastFiltered || text !== '');
  const filtered = hasFilter ? filterRows(columns, rows, text) : rows;
  const column = order && columns[order.at];
  const sorted = column
    ? filtered.toSorted((left, right) => compare(column, left, right) * (order.isDescending ? -1 : 1))
    : filtered;
  const groups = useGroups(sorted);
  const { table, widths } = useWidths(sorted.length);
  if (rows.length === 0) return html`<${Empty}>${empty}<//>`;
  const sorts = rows.length > 1 && !keepsOrder;
  const sortBy = (at: number) => setViewPart(`${name}.sort`, textOfOrder(nextOrder(order, at), titles));
  const setText = (typed: string) => setViewPart(`${name}.filter`, typed);
  const save = () => saveRows(`${file}.csv`, columns, sorted);
  // On a phone each row becomes a card by CSS, which would take its meaning away from a table whose roles are not written down.
  return html`${
    hasFilter &&
    html`<${Filter} caption=${caption} text=${text} onText=${setText} rows=${rows.length} filtered=${filtered.length} />`
  }
  ${hasFilter && filtered.length === 0 && html`<${Empty}>No row has this text.<//>`}
  <div class="table-frame" tabindex="0" role="group" aria-label=${caption} hidden=${filtered.length === 0}>
    <table ref=${table} class="table" role="table" data-fixed=${widths !== undefined} data-stacks=${columns.length > mostBeside} data-sorts=${sorts}
      style=${{ '--columns': widths?.map((width) => `${width}px`).join(' ') }}>
      <caption class="visually-hidden">${caption}</caption>
      <thead role="rowgroup"><tr role="row">${columns.map(
        (
          { title, isNumeric, isActs = false },
          at,
        ) => html`<th key=${title} role="columnheader" scope="col" data-numeric=${isNumeric} aria-sort=${sortOf(order, at)}>
          ${sorts && !isActs ? html`<button type="button" onClick=${() => sortBy(at)}>${title}</button>` : title}
        </th>`,
      )}</tr></thead>
      ${groups.map(
        (
          group,
        ) => html`<${Group} key=${keyOf(group.rows[0] as Row)} ...${group} columns=${columns} keyOf=${keyOf}
          current=${current !== undefined && group.rows.some((row) => keyOf(row) === current) ? current : undefined} />`,
      )}
    </table>
  </div>
  ${!isPart && html`<div class="table-foot"><${Button} kind="text" onPress=${save}>Save as CSV<//></div>`}`;
}

interface FilterProps {
  readonly caption: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly rows: number;
  readonly filtered: number;
}

/** The field above a table, and how many rows it leaves. */
function Filter({ caption, text, onText, rows, filtered }: FilterProps) {
  return html`<div class="table-filter">
    <input type="search" aria-label=${`Filter: ${caption}`} placeholder="Filter" maxlength=${longestFilter} autocomplete="off" value=${text}
      onInput=${(event: InputEvent) => onText((event.currentTarget as HTMLInputElement).value)} />
    <span class="quiet" role="status">${text.trim() === '' ? '' : `${filtered} of ${rows} rows`}</span>
  </div>`;
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
  const saved = columns.filter(({ isActs = false }) => !isActs);
  const titles = saved.map(({ title }) => title);
  const lines = rows.map((row) => saved.map(({ text, inFile = text }) => inFile(row)));
  const text = csvOf(titles, lines);
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
