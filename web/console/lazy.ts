import { signal } from '@preact/signals';
import type { Loaded } from '../common/load.ts';
import type { Place } from '../common/router.ts';
import type { Children } from '../design/html.ts';

type Show = (place: Place) => Children;

/** A screen whose module the browser fetches once, when the screen first shows or a person is about to open it. */
export class LazyScreen {
  readonly #fetch: () => Promise<Show>;
  readonly state = signal<Loaded<Show>>({ kind: 'loading' });
  #isFetching = false;

  constructor(fetch: () => Promise<Show>) {
    this.#fetch = fetch;
  }

  /** A module that failed is asked for again: the first try may have been a guess, while the service was away. */
  prepare(): void {
    if (this.#isFetching || this.state.peek().kind === 'ready') return;
    this.#isFetching = true;
    this.#fetch()
      .then(
        (value) => {
          this.state.value = { kind: 'ready', value };
        },
        (error) => {
          this.state.value = { kind: 'failed', error };
        },
      )
      .finally(() => {
        this.#isFetching = false;
      });
  }
}

/** `load` imports a module; `show` draws its screen at a place. */
export function lazyScreen<Module>(
  load: () => Promise<Module>,
  show: (module: Module, place: Place) => Children,
): LazyScreen {
  return new LazyScreen(async () => {
    const module = await load();
    return (place) => show(module, place);
  });
}
