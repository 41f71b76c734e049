import { Button, Empty } from '../design/components.ts';
import { type Children, html } from '../design/html.ts';
import { csvOf } from './csv.ts';
import { filterRows } from './filter-rows.ts';
import { nextOrder, type Order, orderIn, slugOf, textOfOrder } from './order.ts';
import { setViewPart, viewPart } from './router.ts';
import { Group, useGroups, useWidths } from './rows.ts';
import { sortRows } from './sort-rows.ts';

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
  /** The name of this order at the service, which sorts the whole of a list that is read by pages. */
  readonly order?: string;
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
  /** More rows follow. These are in the order of the service: none of here would find the first of all. */
  readonly hasMore?: boolean;
  /** The rows in the order of the address are on their way. */
  readonly isBusy?: boolean;
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
 * Rows that sort by each column, that can be filtered, and saved as CSV. A list of which more rows follow sorts only by the columns that its
 * service sorts by. Order and filter stand in the address; a value that fits no such column, as in a link of an older version, counts as none.
 */
export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
  file = caption.toLowerCase().replaceAll(' ', '-'),
  isPart = false,
  keepsOrder = false,
  hasMore = false,
  isBusy = false,
  empty,
  current,
}: TableProps<Row>) {
  const name = slugOf(caption);
  const titles = columns.map(({ title }) => title);
  const isSortable = ({ isActs = false, order: ofService }: Column<Row>) =>
    !isActs && !keepsOrder && rows.length > 1 && (!hasMore || ofService !== undefined);
  const wanted = orderIn(viewPart(`${name}.sort`), titles);
  const named = wanted && columns[wanted.at];
  const order = named && isSortable(named) ? wanted : undefined;
  const text = viewPart(`${name}.filter`).slice(0, longestFilter);
  // The keys of a screen move through all rows: a filter would hide the one that they act on.
  const hasFilter = !isPart && current === undefined && (rows.length >= leastFiltered || text !== '');
  const filtered = hasFilter ? filterRows(columns, rows, text) : rows;
  const sorted = hasMore ? filtered : sortRows(columns, filtered, order);
  const groups = useGroups(sorted);
  const { table, widths } = useWidths(sorted.length);
  if (rows.length === 0) return html`<${Empty}>${empty}<//>`;
  const sortBy = (at: number) => setViewPart(`${name}.sort`, textOfOrder(nextOrder(order, at), titles));
  const setText = (typed: string) => setViewPart(`${name}.filter`, typed);
  const save = () => saveRows(`${file}.csv`, columns, sorted);
  // On a phone each row becomes a card by CSS, which would take its meaning away from a table whose roles are not written down.
  return html`${
    hasFilter &&
    html`<${Filter} caption=${caption} text=${text} onText=${setText} rows=${rows.length} filtered=${filtered.length} />`
  }
  ${hasFilter && filtered.length === 0 && html`<${Empty}>No row has this text.<//>`}
  <div class="table-frame" tabindex="0" role="group" aria-label=${caption} aria-busy=${isBusy} hidden=${filtered.length === 0}>
    <table ref=${table} class="table" role="table" data-fixed=${widths !== undefined} data-stacks=${columns.length > mostBeside} data-sorts=${columns.some(isSortable)}
      style=${{ '--columns': widths?.map((width) => `${width}px`).join(' ') }}>
      <caption class="visually-hidden">${caption}</caption>
      <thead role="rowgroup"><tr role="row">${columns.map(
        (
          column,
          at,
        ) => html`<th key=${column.title} role="columnheader" scope="col" data-numeric=${column.isNumeric} aria-sort=${isBusy ? undefined : sortOf(order, at)}>
          ${isSortable(column) ? html`<button type="button" onClick=${() => sortBy(at)}>${column.title}</button>` : column.title}
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
