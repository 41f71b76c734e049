import { useEffect, useRef, useState } from 'preact/hooks';
import { type Loaded, useLoad } from '../common/load.ts';
import { askedOrder, orderIn, slugOf } from '../common/order.ts';
import { viewPart } from '../common/router.ts';
import { sortRows } from '../common/sort-rows.ts';
import { type Column, Table } from '../common/table.ts';
import { Button, Notice } from '../design/components.ts';
import { type Children, html } from '../design/html.ts';
import { type Page, readPage, sentenceOf } from './operations.ts';
import { countOf, largestPage, mostRows } from './read-all.ts';
import { SaveAll } from './save-all.ts';
import { ask } from './session.ts';
import { Stateful } from './shell.ts';

interface PagedTableProps<Row> {
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** Those with an order sort the whole list at the service; the others sort once all rows are loaded. */
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly caption: string;
  readonly file: string;
  readonly empty: Children;
  /** The operation whose pages make the file; null for a list that is not saved. Default: the path. */
  readonly filePath?: string | null;
  /** Default: the columns. */
  readonly fileColumns?: readonly Column<Row>[];
  /** Another number reads the first page once more, behind the rows that show. */
  readonly round?: number;
}

/** Pages in the order that the service was asked for. */
interface Ordered<Row> {
  readonly order: string;
  readonly pages: readonly Page<Row>[];
}

const pageSize = 100;

/** A list that reads its next page when its end comes into view. Give it a `key` that changes with the query. */
export function PagedTable<Row>(props: PagedTableProps<Row>) {
  const { path, query = {}, columns, caption, round = 0 } = props;
  const sort = viewPart(`${slugOf(caption)}.sort`);
  const wanted = askedOrder(sort, columns);
  const [order, setOrder] = useState(wanted);
  const read = (limit: number, after?: string) =>
    ask(() => readPage<Row>(path, { limit: String(limit), ...query, order, after }));
  const { state, again, refresh } = useLoad<Ordered<Row>>(
    async () => ({ order, pages: [await read(pageSize)] }),
    [order],
  );
  useEffect(() => {
    if (round > 0) void refresh();
  }, [round]);
  // Rows that are all here sort here, by any column; a list of which more rows follow is asked for anew.
  const isWhole = useRef(false);
  if (state.kind === 'failed') isWhole.current = false;
  useEffect(() => {
    if (!isWhole.current || sort === '') setOrder(wanted);
  });
  // The rows of another order show until those of the new one come, so that the head that was pressed keeps the focus.
  const before = useRef<Ordered<Row> | undefined>(undefined);
  if (state.kind !== 'loading') before.current = state.kind === 'ready' ? state.value : undefined;
  const shown: Loaded<Ordered<Row>> =
    state.kind === 'loading' && before.current ? { kind: 'ready', value: before.current } : state;
  return html`<${Stateful} state=${shown} subject=${caption.toLowerCase()} again=${again}>
    ${(first: Ordered<Row>) => html`<${Pages} ...${props} first=${first} order=${order} wanted=${wanted} sort=${sort} read=${read} isWhole=${isWhole} />`}
  <//>`;
}

interface PagesProps<Row> extends PagedTableProps<Row> {
  readonly first: Ordered<Row>;
  /** The order of the last question, and the one that the address asks for. */
  readonly order: string;
  readonly wanted: string;
  readonly sort: string;
  readonly read: (limit: number, after?: string) => Promise<Page<Row>>;
  readonly isWhole: { current: boolean };
}

function Pages<Row>(props: PagesProps<Row>) {
  const { first, order, wanted, sort, read, isWhole, columns, keyOf, caption, file, empty } = props;
  const { path, query = {}, filePath = path, fileColumns = columns } = props;
  const [more, setMore] = useState<Ordered<Row>>({ order, pages: [] });
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string>();
  const [isReadingAll, setReadingAll] = useState(false);
  const end = useRef<HTMLDivElement>(null);
  const now = useRef(order);
  now.current = order;
  const pages = [...first.pages, ...(more.order === first.order ? more.pages : [])];
  const rows = pages.flatMap(({ items }) => items);
  const next = pages.at(-1)?.next;
  const hasMore = next !== undefined;
  const isStale = first.order !== order || (hasMore && order !== wanted);
  const readsAll = isReadingAll && rows.length < mostRows;
  isWhole.current = !hasMore;
  const readMore = async () => {
    setBusy(true);
    setFault(undefined);
    try {
      const page = await read(readsAll ? largestPage : pageSize, next);
      // The answer to a question of another order comes too late.
      if (now.current === order) setMore({ order, pages: [...pages.slice(1), page] });
    } catch (error) {
      setFault(sentenceOf(error));
      setReadingAll(false);
    }
    setBusy(false);
  };
  useEffect(() => {
    if (end.current === null || busy || fault !== undefined || !hasMore || isStale) return;
    if (readsAll) {
      void readMore();
      return;
    }
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting) void readMore();
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [next, busy, fault, readsAll, isStale]);
  const titles = columns.map(({ title }) => title);
  const saving = filePath !== null && {
    file,
    columns: fileColumns,
    arrange: (all: readonly Row[]) => (hasMore ? all : sortRows(columns, all, orderIn(sort, titles))),
    readPage: (after: string | undefined) =>
      ask(() => readPage<Row>(filePath, { limit: String(largestPage), ...query, order, after })),
  };
  return html`${hasMore && rows.length > 0 && html`<${MoreFollow} rows=${rows.length} columns=${columns} readsAll=${readsAll} onReadAll=${setReadingAll} />`}
    <${Table} caption=${caption} columns=${columns} rows=${rows} keyOf=${keyOf} isPart=${true} hasMore=${hasMore} isBusy=${isStale}
      empty=${hasMore ? 'Nothing yet; the search goes on.' : empty} />
    <div ref=${end} class="end">
      ${fault && html`<${Notice} kind="bad" title=${fault} />`}
      ${hasMore && html`<${Button} kind="quiet" isBusy=${busy} onPress=${readMore}>${busy ? 'Loading …' : 'Show more'}<//>`}
    </div>
    ${rows.length > 0 && saving && html`<${SaveAll} ...${saving} />`}`;
}

interface MoreFollowProps<Row> {
  readonly rows: number;
  readonly columns: readonly Column<Row>[];
  readonly readsAll: boolean;
  readonly onReadAll: (isWanted: boolean) => void;
}

/** Above the first rows of a longer list: which columns sort all of it, and the way to all rows. */
function MoreFollow<Row>({ rows, columns, readsAll, onReadAll }: MoreFollowProps<Row>) {
  const sorting = columns.filter(({ order }) => order !== undefined).map(({ title }) => title);
  const others =
    sorting.length === 0
      ? 'Columns sort once all rows are loaded.'
      : `${sorting.join(' and ')} sort the whole list, other columns once all rows are loaded.`;
  const isTooLong = rows >= mostRows;
  return html`<div class="table-filter">
    <p class="quiet">${countOf(rows)} rows are loaded, and more follow. ${others}</p>
    ${isTooLong ? html`<p class="quiet">Narrow the search to load all.</p>` : html`<${Button} kind="text" onPress=${() => onReadAll(!readsAll)}>${readsAll ? 'Stop' : 'Load all rows'}<//>`}
  </div>`;
}
