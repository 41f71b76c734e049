import { AsyncLocalStorage } from 'node:async_hooks';

/** One connection of a pool, from the moment it is taken until it is released. */
interface Holding {
  readonly pool: object;
  readonly outer: Holding | undefined;
  released: boolean;
}

let holdings: AsyncLocalStorage<Holding> | undefined;

/**
 * A caller requested a connection of a pool while it held another one of the same pool. If as many callers as the pool has
 * connections do so at once, they wait for each other forever.
 */
export class NestedUseError extends Error {
  override readonly name = 'NestedUseError';
  constructor() {
    super('storage: a connection was requested by a caller that already holds one of the same pool');
  }
}

/** Makes such a request throw NestedUseError in this process. For tests, since tracking callers costs each request. */
export function refuseNestedUse(): void {
  holdings ??= new AsyncLocalStorage();
}

/** Runs the work of a caller that holds a connection of the pool. */
export async function whileHolding<T>(pool: object, work: () => Promise<T>): Promise<T> {
  if (holdings === undefined) return work();
  const holding: Holding = { pool, outer: holdings.getStore(), released: false };
  try {
    return await holdings.run(holding, work);
  } finally {
    holding.released = true;
  }
}

/** Throws NestedUseError. Work that a holder started and that outlives it may request a connection. */
export function requireNoHolding(pool: object): void {
  for (let holding = holdings?.getStore(); holding !== undefined; holding = holding.outer) {
    if (holding.pool === pool && !holding.released) throw new NestedUseError();
  }
}
