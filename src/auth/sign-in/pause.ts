import { setTimeout as sleep } from 'node:timers/promises';
import { FairShare } from '../../shared/fair-queue.ts';
import { tooManyLogins } from './too-many-logins.ts';

export interface PauseOptions {
  /** Tries that wait at the same time, with a fair share for each requester. */
  readonly mostWaiting: number;
  readonly sleep?: ((millis: number) => Promise<unknown>) | undefined;
}

/** Holds tries back. Problem `overloaded` if too many of the requester wait. */
export class Pause {
  readonly #slots: FairShare;
  readonly #sleep: (millis: number) => Promise<unknown>;

  constructor(options: PauseOptions) {
    this.#slots = new FairShare(options.mostWaiting);
    this.#sleep = options.sleep ?? sleep;
  }

  async wait(requester: string, millis: number): Promise<void> {
    if (millis === 0) return;
    if (!this.#slots.take(requester)) throw tooManyLogins();
    try {
      await this.#sleep(millis);
    } finally {
      this.#slots.free(requester);
    }
  }
}

/** Sets the key. Beyond the most keys, the one that was not set for longest is dropped. */
export function setNewest<Value>(
  map: Map<string, Value>,
  { key, value, mostKeys }: { readonly key: string; readonly value: Value; readonly mostKeys: number },
): void {
  // Deleted first, so that it becomes the last in the map's order.
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > mostKeys && oldest !== undefined) map.delete(oldest);
}
