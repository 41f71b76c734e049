import { AsyncLocalStorage } from 'node:async_hooks';

/** One connection of a pool, from the moment it is taken until it is released. */
interface Holding {
  readonly pool: object;
  readonly outer: Holding | undefined;
  released: boolean;
}

let holdings: AsyncLocalStorage<Holding> | undefined;

/**
 * A caller asked a pool for a connection while holding another one of it. As many such callers at once as the pool has
 * connections wait for each other, and everything else waits with them.
 */
export class NestedUseError extends Error {
  override readonly name = 'NestedUseError';
  constructor() {
    super('storage: a connection was requested by a caller that already holds one of the same pool');
  }
}

/** From now on such a request throws NestedUseError in this process. For tests: tracking callers costs every request. */
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

/** NestedUseError. Work that was started by a holder and outlives it may ask again. */
export function requireNoHolding(pool: object): void {
  for (let holding = holdings?.getStore(); holding !== undefined; holding = holding.outer) {
    if (holding.pool === pool && !holding.released) throw new NestedUseError();
  }
}
