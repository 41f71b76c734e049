/**
 * The text behind the `#` of the address: `/members?text=quay&members.sort=-number`. A name without a point is a question of the screen. A name with
 * one is a part of its view, like the order of a table: it changes how the same rows show, so the screen is not built again for it.
 */
export interface AddressParts {
  /** `/accounts/a-1001-checking`, still encoded. */
  readonly route: string;
  /** The questions of the screen. */
  readonly query: URLSearchParams;
  /** The parts of the view. */
  readonly view: URLSearchParams;
}

export function partsOf(address: string): AddressParts {
  const [route = '', text = ''] = address.split('?', 2);
  const [query, view] = [new URLSearchParams(), new URLSearchParams()];
  for (const [name, value] of new URLSearchParams(text))
    (isViewPart(name) ? view : query).append(name, value);
  return { route, query, view };
}

function isViewPart(name: string): boolean {
  return name.includes('.');
}

/** The address without the parts of the view: as long as it stays the same, the screen does. */
export function screenPartOf(address: string): string {
  const { route, query } = partsOf(address);
  return joined(route, query);
}

/** An empty value is the default, which no address has. */
export function withViewPart(address: string, name: string, value: string): string {
  const { route, query, view } = partsOf(address);
  if (value === '') view.delete(name);
  else view.set(name, value);
  return joined(route, new URLSearchParams([...query, ...view]));
}

function joined(route: string, query: URLSearchParams): string {
  return query.size === 0 ? route : `${route}?${query}`;
}

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
