import { setTimeout as sleep } from 'node:timers/promises';
import { FairShare } from '../../shared/fair-queue.ts';
import type { Clock } from '../../storage/index.ts';
import { tooManyLogins } from './too-many-logins.ts';

export interface LoginBackoffOptions {
  readonly clock: Clock;
  /** The delay after the first failure. Each further failure doubles it, up to two seconds. 0: no delays. */
  readonly firstMillis: number;
  readonly sleep?: (millis: number) => Promise<unknown>;
  readonly mostWaiting?: number;
  readonly mostKeys?: number;
}

const longestMillis = 2_000;
/** As long as the first lock: after it the count begins anew. */
const forgottenMillis = 15 * 60 * 1000;

/**
 * Delays tries of a key that failed, longer after each failure. Unknown usernames are delayed like known ones, so that the delay
 * reveals nothing. Kept in this process's memory; beyond a number of keys the one longest without a failure is dropped.
 */
export class LoginBackoff {
  readonly #options: LoginBackoffOptions;
  readonly #failures = new Map<string, { readonly count: number; readonly at: number }>();
  readonly #slots: FairShare;

  constructor(options: LoginBackoffOptions) {
    this.#options = options;
    this.#slots = new FairShare(options.mostWaiting ?? 256);
  }

  /** Returns at once for a key without failures. Problem `overloaded` if too many tries of `requester` wait. */
  async wait(key: string, requester = key): Promise<void> {
    const millis = this.#millisFor(key);
    if (millis === 0) return;
    if (!this.#slots.take(requester)) throw tooManyLogins();
    try {
      await (this.#options.sleep ?? sleep)(millis);
    } finally {
      this.#slots.free(requester);
    }
  }

  failed(key: string): void {
    const count = this.#countOf(key) + 1;
    // Deleted first, so that it becomes the last in the map's order.
    this.#failures.delete(key);
    this.#failures.set(key, { count, at: this.#options.clock().getTime() });
    if (this.#failures.size > (this.#options.mostKeys ?? 50_000)) {
      const [oldest] = this.#failures.keys();
      if (oldest !== undefined) this.#failures.delete(oldest);
    }
  }

  succeeded(key: string): void {
    this.#failures.delete(key);
  }

  #millisFor(key: string): number {
    const count = this.#countOf(key);
    return count === 0 ? 0 : Math.min(longestMillis, this.#options.firstMillis * 2 ** (count - 1));
  }

  #countOf(key: string): number {
    const failure = this.#failures.get(key);
    if (failure === undefined) return 0;
    return this.#options.clock().getTime() - failure.at < forgottenMillis ? failure.count : 0;
  }
}
