import { type Directory, sql } from '../../storage/index.ts';
import { type Finding, ok, warning } from './finding.ts';

/** An index as the catalog describes it since the last vacuum or analyze. */
export interface IndexSize {
  readonly name: string;
  readonly pages: number;
  readonly entries: number;
  /** In the order of the index. The length is null for a type of varying length, like text. */
  readonly columns: readonly { readonly length: number | null; readonly alignment: number }[];
}

/** Below 10 MB a larger index than needed costs nothing that anybody notices. */
const leastPages = 1_280;
const mostIndexes = 50;

const largest = sql(
  'operators_largest_indexes',
  `select c.relname::text as name, c.relpages as pages, c.reltuples::double precision as entries,
          (select json_agg(json_build_object('length', case when a.attlen > 0 then a.attlen end,
                                             'alignment', case a.attalign when 'd' then 8 when 'i' then 4 when 's' then 2 else 1 end)
                           order by a.attnum)
           from pg_attribute a where a.attrelid = c.oid) as columns
   from pg_class c
   join pg_am m on m.oid = c.relam and m.amname = 'btree'
   where c.relnamespace = 'public'::regnamespace and c.relkind = 'i' and c.relpages >= $1 and c.reltuples >= 0
   order by c.relpages desc
   limit $2`,
);

/** The fifty largest of at least so many pages, the largest first. It reads the catalog only, so it costs the same for any size. */
export async function selectLargestIndexes(db: Directory, least = leastPages): Promise<IndexSize[]> {
  return (await db.query<IndexSize>(largest, [least, mostIndexes])).rows;
}

const pageBytes = 8_192;
/** A page without its header and the links of a B-tree page. */
const usableBytes = pageBytes - 24 - 16;
/** The fill that a new index has, and one that grows at its end keeps. */
const usualFill = 0.9;
/** Entries that arrive in any order leave pages about two thirds full. Beyond twice the pages, a rebuild frees half of them. */
const mostTimes = 2;

/**
 * The pages that a B-tree of such entries needs when it is built anew; undefined if a column's length varies: the statistics that tell its
 * average are hidden from a login that row-level security binds. Equal keys share one entry, so the true number may be smaller.
 */
export function neededPages({
  entries,
  columns,
}: Pick<IndexSize, 'entries' | 'columns'>): number | undefined {
  let bytes = 8;
  for (const { length, alignment } of columns) {
    if (length === null) return undefined;
    bytes = aligned(bytes, alignment) + length;
  }
  // Each entry has a pointer of four bytes at the head of its page.
  const perPage = Math.floor((usableBytes * usualFill) / (aligned(bytes, 8) + 4));
  const leaves = Math.ceil(entries / perPage);
  // The levels above the leaves, and the page that describes the index.
  return leaves + Math.ceil(leaves / perPage) + 2;
}

function aligned(bytes: number, alignment: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}

export function judgeIndexBloat(indexes: readonly IndexSize[]): Finding {
  const check = 'index bloat';
  if (indexes.length === 0) return ok(check, 'No index has 10 MB.');
  const measured = indexes.flatMap((index) => {
    const needed = neededPages(index);
    return needed === undefined ? [] : [{ ...index, needed }];
  });
  const unmeasured = indexes.length - measured.length;
  const rest =
    unmeasured === 0
      ? ''
      : ` Not examined: ${unmeasured} of the ${indexes.length} largest, whose entries vary in length.`;
  const bloated = measured.filter(({ pages, needed }) => pages > mostTimes * needed);
  if (bloated.length === 0)
    return ok(check, `${measured.length} large indexes have at most twice the pages that they need.${rest}`);
  const sizes = bloated.map(
    ({ name, pages, needed }) => `${name} has ${megabytes(pages)} and needs about ${megabytes(needed)}`,
  );
  return warning(
    check,
    `${sizes.join('; ')}.${rest}`,
    `As the owner, in a quiet hour: ${bloated.map(({ name }) => `reindex index concurrently ${name};`).join(' ')}`,
  );
}

function megabytes(pages: number): string {
  return `${Math.ceil((pages * pageBytes) / 1_000_000).toLocaleString('en-US')} MB`;
}
