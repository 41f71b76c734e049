import { setTimeout as sleep } from 'node:timers/promises';
import { FairShare } from '../../shared/fair-share.ts';
import type { Clock } from '../../storage/index.ts';
import { tooManyLogins } from './turns.ts';

export interface LoginBackoffOptions {
  readonly clock: Clock;
  /** After the first failure; each further one doubles it, up to two seconds. 0: no pauses. */
  readonly firstMillis: number;
  readonly sleep?: (millis: number) => Promise<unknown>;
  readonly mostWaiting?: number;
  readonly mostKeys?: number;
}

const longestMillis = 2_000;
/** As long as a lock lasts: whoever waited that out begins anew. */
const forgottenMillis = 15 * 60 * 1000;

/**
 * Makes who fails wait, longer each time. By key, whether anybody has it or not, so that the pause tells nothing.
 * In this process's memory alone and bounded: the keys longest without a failure are forgotten first.
 */
export class LoginBackoff {
  readonly #options: LoginBackoffOptions;
  readonly #failures = new Map<string, { readonly count: number; readonly at: number }>();
  readonly #places: FairShare;

  constructor(options: LoginBackoffOptions) {
    this.#options = options;
    this.#places = new FairShare(options.mostWaiting ?? 256);
  }

  /**
   * Problem `overloaded` when too many wait already, for this key or for whom it is asked; whoever has no failure behind
   * them never waits.
   */
  async wait(key: string, askedBy = key): Promise<void> {
    const millis = this.#millisFor(key);
    if (millis === 0) return;
    if (!this.#places.take(askedBy)) throw tooManyLogins();
    try {
      await (this.#options.sleep ?? sleep)(millis);
    } finally {
      this.#places.free(askedBy);
    }
  }

  failed(key: string): void {
    const count = this.#countOf(key) + 1;
    // Set anew, it is the last in the map's order.
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
