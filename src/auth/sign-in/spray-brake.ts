import type { Clock } from '../../storage/index.ts';
import { Pause, setNewest } from './pause.ts';

export interface SprayBrakeOptions {
  readonly clock: Clock;
  /** The delay of a sign-in from a source whose sign-ins mostly fail. 0: no delays. */
  readonly pauseMillis: number;
  readonly sleep?: (millis: number) => Promise<unknown>;
}

const fewestFailures = 20;
const halfLifeMillis = 5 * 60_000;
const mostWaiting = 32;
const mostSources = 50_000;
const mostUsers = 4;

interface Tally {
  readonly failed: number;
  readonly succeeded: number;
  readonly at: number;
  /** The users of the last successes that counted. */
  readonly users: readonly bigint[];
}

/**
 * Slows sources of sign-ins that mostly fail. One guess at each of many usernames reaches neither the backoff nor the lock of any
 * username, but it shows in the failures of the client or of the member's address. A source with at least twenty recent failures, and
 * more failures than successes, waits before each sign-in; the number of waiting sign-ins is bounded. A user's success counts
 * once until four other users have succeeded, so a guesser's own login does not offset failures.
 *
 * Kept in this process's memory; beyond 50,000 sources the one longest without a sign-in is dropped.
 */
export class SprayBrake {
  readonly #options: SprayBrakeOptions;
  readonly #tallies = new Map<string, Tally>();
  readonly #pause: Pause;

  constructor(options: SprayBrakeOptions) {
    this.#options = options;
    this.#pause = new Pause({ sleep: options.sleep, mostWaiting });
  }

  /** Problem `overloaded` if too many wait. The last source occupies the slot. */
  async wait(sources: readonly string[]): Promise<void> {
    if (!sources.some((source) => this.#mostlyFails(source))) return;
    await this.#pause.wait(sources.at(-1) ?? '', this.#options.pauseMillis);
  }

  failed(sources: readonly string[]): void {
    this.#note(sources, ({ failed, succeeded, users }) => ({ failed: failed + 1, succeeded, users }));
  }

  succeeded(sources: readonly string[], user: bigint): void {
    this.#note(sources, ({ failed, succeeded, users }) =>
      users.includes(user)
        ? { failed, succeeded, users }
        : { failed, succeeded: succeeded + 1, users: [user, ...users].slice(0, mostUsers) },
    );
  }

  #note(sources: readonly string[], change: (tally: Omit<Tally, 'at'>) => Omit<Tally, 'at'>): void {
    const at = this.#options.clock().getTime();
    for (const key of sources) {
      const value = { ...change(this.#tallyOf(key)), at };
      setNewest(this.#tallies, { key, value, mostKeys: mostSources });
    }
  }

  #mostlyFails(source: string): boolean {
    const { failed, succeeded } = this.#tallyOf(source);
    return failed >= fewestFailures && failed > succeeded;
  }

  /** The weight of counts halves every five minutes. */
  #tallyOf(source: string): Omit<Tally, 'at'> {
    const tally = this.#tallies.get(source);
    if (tally === undefined) return { failed: 0, succeeded: 0, users: [] };
    const weight = 0.5 ** (Math.max(0, this.#options.clock().getTime() - tally.at) / halfLifeMillis);
    return { failed: tally.failed * weight, succeeded: tally.succeeded * weight, users: tally.users };
  }
}
