/** A page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Where the next page begins: pass it as `after`. Undefined on the last page. */
  readonly next: string | undefined;
}

/**
 * A list of any length. `for await (const item of list)` reads page after page as they are needed; `pages()` returns the
 * pages themselves; `await list` returns the first page.
 */
export class Pages<Item> implements AsyncIterable<Item>, PromiseLike<Page<Item>> {
  readonly #read: (after: string | undefined) => Promise<Page<Item>>;
  readonly #after: string | undefined;

  constructor(read: (after: string | undefined) => Promise<Page<Item>>, after: string | undefined) {
    this.#read = read;
    this.#after = after;
  }

  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    let after = this.#after;
    do {
      const page = await this.#read(after);
      yield page;
      after = page.next;
    } while (after !== undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const { items } of this.pages()) yield* items;
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting a list reads its first page.
  then<A = Page<Item>, B = never>(
    onFulfilled?: ((page: Page<Item>) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#read(this.#after).then(onFulfilled, onRejected);
  }
}

/**
 * The position of the next page, from a `Link` header (RFC 8288). Only the position is taken from it: the request for the next
 * page goes to the same origin and path, and takes the token nowhere else.
 */
export function nextOf(link: string | null): string | undefined {
  const [, target] = /<([^>]*)>[^,]*;\s*rel="?next"?/.exec(link ?? '') ?? [];
  if (target === undefined) return undefined;
  return new URL(target, 'http://origin.invalid').searchParams.get('after') ?? undefined;
}
