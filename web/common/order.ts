export interface Order {
  /** The position of a column. */
  readonly at: number;
  readonly isDescending: boolean;
}

/** `balance-after` of `Balance after`: the name of a table or a column in an address. */
export function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** `-amount` is the largest amount first. Undefined, the order of the service, for a column that the table does not have. */
export function orderIn(text: string, titles: readonly string[]): Order | undefined {
  const isDescending = text.startsWith('-');
  const slug = isDescending ? text.slice(1) : text;
  const at = slug === '' ? -1 : titles.findIndex((title) => slugOf(title) === slug);
  return at < 0 ? undefined : { at, isDescending };
}

/** The next order when the head of a column is pressed: upward, downward, and as the service gave the rows. */
export function nextOrder(order: Order | undefined, at: number): Order | undefined {
  if (order?.at !== at) return { at, isDescending: false };
  return order.isDescending ? undefined : { at, isDescending: true };
}

export function textOfOrder(order: Order | undefined, titles: readonly string[]): string {
  if (order === undefined) return '';
  return `${order.isDescending ? '-' : ''}${slugOf(titles[order.at] ?? '')}`;
}

/** The order that a service is asked for, like `-amount`: empty for its own order, and for a column that it does not sort by. */
export function askedOrder(
  text: string,
  columns: readonly { readonly title: string; readonly order?: string }[],
): string {
  const order = orderIn(
    text,
    columns.map(({ title }) => title),
  );
  const name = order && columns[order.at]?.order;
  return name === undefined ? '' : `${order?.isDescending ? '-' : ''}${name}`;
}
