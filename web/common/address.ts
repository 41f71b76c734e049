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
