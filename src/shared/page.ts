/** Where a page ended and the next one goes on: the values of the list's order, all >= 0. Opaque text to callers. */
export type Position = readonly bigint[];

export interface PageRequest {
  /** The most items of the page. */
  readonly limit: number;
  /** The position behind which the page begins; null for the first page. */
  readonly after: Position | null;
}

/** A page may hold fewer than its limit, even nothing, and still not be the last: the last has no `next`. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: Position | null;
}

/** Cuts a page from its rows. The caller reads one row more than the limit, which shows whether a next page exists. */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  limit: number,
  toItem: (row: Row) => Item,
  positionOf: (row: Row) => Position,
): Page<Item> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { items: shown.map(toItem), next: more ? positionOf(last) : null };
}
