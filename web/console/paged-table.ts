import { useEffect, useRef, useState } from 'preact/hooks';
import { useLoad } from '../common/load.ts';
import { type Column, Table } from '../common/table.ts';
import { Button, Notice } from '../design/components.ts';
import { type Children, html } from '../design/html.ts';
import { type Page, readPage, sentenceOf } from './operations.ts';
import { largestPage } from './read-all.ts';
import { SaveAll } from './save-all.ts';
import { ask } from './session.ts';
import { Stateful } from './shell.ts';

interface PagedTableProps<Row> {
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
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

const pageSize = '100';

/** A list that reads its next page when its end comes into view. Give it a `key` that changes with the query. */
export function PagedTable<Row>(props: PagedTableProps<Row>) {
  const { path, query = {}, round = 0 } = props;
  const { state, again, refresh } = useLoad(
    () => ask(() => readPage<Row>(path, { limit: pageSize, ...query })),
    [],
  );
  useEffect(() => {
    if (round > 0) void refresh();
  }, [round]);
  return html`<${Stateful} state=${state} subject=${props.caption.toLowerCase()} again=${again}>
    ${(first: Page<Row>) => html`<${Pages} ...${props} first=${first} />`}
  <//>`;
}

function Pages<Row>({
  first,
  path,
  query = {},
  columns,
  keyOf,
  caption,
  file,
  empty,
  filePath = path,
  fileColumns = columns,
}: PagedTableProps<Row> & { readonly first: Page<Row> }) {
  const [more, setMore] = useState<readonly Page<Row>[]>([]);
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string>();
  const end = useRef<HTMLDivElement>(null);
  const pages = [first, ...more];
  const next = pages.at(-1)?.next;
  const readMore = async () => {
    setBusy(true);
    setFault(undefined);
    try {
      const page = await ask(() => readPage<Row>(path, { limit: pageSize, ...query, after: next }));
      setMore([...more, page]);
    } catch (error) {
      setFault(sentenceOf(error));
    }
    setBusy(false);
  };
  useEffect(() => {
    if (end.current === null || busy || fault !== undefined || next === undefined) return;
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting) void readMore();
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [next, busy, fault]);
  const rows = pages.flatMap(({ items }) => items);
  const saving = filePath !== null && {
    file,
    columns: fileColumns,
    readPage: (after: string | undefined) =>
      ask(() => readPage<Row>(filePath, { limit: String(largestPage), ...query, after })),
  };
  return html`<${Table} caption=${caption} columns=${columns} rows=${rows} keyOf=${keyOf} isPart=${true}
      empty=${next === undefined ? empty : 'Nothing yet; the search goes on.'} />
    <div ref=${end} class="end">
      ${fault && html`<${Notice} kind="bad" title=${fault} />`}
      ${next !== undefined && html`<${Button} kind="quiet" isBusy=${busy} onPress=${readMore}>${busy ? 'Loading …' : 'Show more'}<//>`}
    </div>
    ${rows.length > 0 && saving && html`<${SaveAll} ...${saving} />`}`;
}
