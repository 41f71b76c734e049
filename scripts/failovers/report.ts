interface Episode {
  readonly kind: string;
  readonly does: string;
  /** The longest time without a decided order. */
  readonly pauseMillis: number;
  /** Until the cluster has a primary and both standbys again. */
  readonly wholeMillis: number;
  readonly moved: boolean;
}

/** The effect of each fault on the load, and the figures of each kind. */
export class Episodes {
  readonly #all: Episode[] = [];

  get length(): number {
    return this.#all.length;
  }

  add(episode: Episode): void {
    this.#all.push(episode);
  }

  report(say: (text: string) => void): void {
    const kinds = new Map([...this.#all].map(({ kind, does }) => [kind, does]));
    for (const [kind, does] of kinds)
      line(
        kind,
        does,
        this.#all.filter((each) => each.kind === kind),
      );
    line('all', 'every kind', this.#all);

    function line(kind: string, does: string, episodes: readonly Episode[]): void {
      const pauses = episodes.map(({ pauseMillis }) => pauseMillis);
      const whole = episodes.map(({ wholeMillis }) => wholeMillis);
      const moved = episodes.filter((each) => each.moved).length;
      say(
        `${kind} (${does}): ${episodes.length} times, ${moved} with another primary afterwards; without a decided order ` +
          `p50 ${at(pauses, 0.5)}, p99 ${at(pauses, 0.99)}, most ${at(pauses, 1)}; whole again p50 ${at(whole, 0.5)}, most ${at(whole, 1)}`,
      );
    }
  }
}

/** The smallest value that at least this share of all do not exceed. */
function at(millis: readonly number[], share: number): string {
  const sorted = millis.toSorted((one, other) => one - other);
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return `${(value / 1_000).toFixed(1)} s`;
}
