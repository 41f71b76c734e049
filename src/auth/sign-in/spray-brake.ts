import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { FairShare } from '../../shared/fair-share.ts';
import type { Clock } from '../../storage/index.ts';
import { tooManyLogins } from './turns.ts';

export interface SprayBrakeOptions {
  readonly clock: Clock;
  /** The wait of a login whose source mostly fails. 0: none waits. */
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
  /** The users whose successes counted last. */
  readonly users: readonly bigint[];
}

/**
 * Slows sources of logins that mostly fail. One guess at each of many usernames reaches neither the pause nor the lock of
 * any of them; it shows in the share of failures of the client, or of the member's own address. A source with at least
 * twenty recent failures and more failures than successes waits before each login, and a bounded number wait at once. A user's
 * success counts once until four others have succeeded: a sprayer with a login of their own cannot make up for failures.
 *
 * In this process's memory alone and bounded: the sources longest without a login are forgotten first.
 */
export class SprayBrake {
  readonly #options: SprayBrakeOptions;
  readonly #tallies = new Map<string, Tally>();
  readonly #places = new FairShare(mostWaiting);

  constructor(options: SprayBrakeOptions) {
    this.#options = options;
  }

  /** Problem `overloaded` when too many wait already. The last source is the one that takes a place. */
  async wait(sources: readonly string[]): Promise<void> {
    if (this.#options.pauseMillis === 0 || !sources.some((source) => this.#mostlyFails(source))) return;
    const place = sources.at(-1) ?? '';
    if (!this.#places.take(place)) throw tooManyLogins();
    try {
      await (this.#options.sleep ?? sleep)(this.#options.pauseMillis);
    } finally {
      this.#places.free(place);
    }
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
    for (const source of sources) {
      const tally = change(this.#tallyOf(source));
      // Set anew, it is the last in the map's order.
      this.#tallies.delete(source);
      this.#tallies.set(source, { ...tally, at });
    }
    for (const oldest of this.#tallies.keys()) {
      if (this.#tallies.size <= mostSources) break;
      this.#tallies.delete(oldest);
    }
  }

  #mostlyFails(source: string): boolean {
    const { failed, succeeded } = this.#tallyOf(source);
    return failed >= fewestFailures && failed > succeeded;
  }

  /** Counts lose half of their weight every five minutes. */
  #tallyOf(source: string): Omit<Tally, 'at'> {
    const tally = this.#tallies.get(source);
    if (tally === undefined) return { failed: 0, succeeded: 0, users: [] };
    const weight = 0.5 ** (Math.max(0, this.#options.clock().getTime() - tally.at) / halfLifeMillis);
    return { failed: tally.failed * weight, succeeded: tally.succeeded * weight, users: tally.users };
  }
}

/** An address as a source. Of IPv6 the /64: one subscriber has all of its addresses. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6 || address.includes('%')) return address;
  const { hostname } = new URL(`http://[${address}]`);
  // An IPv4 address in IPv6 notation.
  if (hostname.startsWith('[::ffff:')) return hostname;
  const [head = '', tail] = hostname.slice(1, -1).split('::');
  const [first, last] = [head, tail ?? ''].map((part) => part.split(':').filter((group) => group !== ''));
  const missing = tail === undefined ? 0 : 8 - (first?.length ?? 0) - (last?.length ?? 0);
  return [...(first ?? []), ...Array<string>(missing).fill('0'), ...(last ?? [])].slice(0, 4).join(':');
}
