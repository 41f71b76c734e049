import type { Clock } from '../../storage/index.ts';
import { Pause, setNewest } from './pause.ts';

export interface LoginBackoffOptions {
  readonly clock: Clock;
  /** The delay after the first failure. Each further failure doubles it, up to two seconds. 0: no delays. */
  readonly firstMillis: number;
  readonly sleep?: (millis: number) => Promise<unknown>;
  readonly mostWaiting?: number;
  readonly mostKeys?: number;
}

const longestMillis = 2_000;
/** The count of failures begins anew after this time, which is as long as the first lock. */
const forgottenMillis = 15 * 60 * 1000;

/**
 * Delays tries of a key that failed, longer after each failure. Unknown usernames are delayed like known ones, so that the delay
 * reveals nothing. Kept in this process's memory; beyond a number of keys the one longest without a failure is dropped.
 */
export class LoginBackoff {
  readonly #options: LoginBackoffOptions;
  readonly #failures = new Map<string, { readonly count: number; readonly at: number }>();
  readonly #pause: Pause;

  constructor(options: LoginBackoffOptions) {
    this.#options = options;
    this.#pause = new Pause({ sleep: options.sleep, mostWaiting: options.mostWaiting ?? 256 });
  }

  /** Returns at once for a key without failures. Problem `overloaded` if too many tries of `requester` wait. */
  wait(key: string, requester = key): Promise<void> {
    return this.#pause.wait(requester, this.#millisFor(key));
  }

  failed(key: string): void {
    const value = { count: this.#countOf(key) + 1, at: this.#options.clock().getTime() };
    setNewest(this.#failures, { key, value, mostKeys: this.#options.mostKeys ?? 50_000 });
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
