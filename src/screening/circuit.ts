const failuresToPause = 5;
const pauseMillis = 10_000;

/**
 * Whether to ask a hook that may be down. After five questions in a row without an answer none is asked for ten seconds; then
 * one is, and its answer ends the pause.
 */
export class Circuit {
  readonly #now: () => number;
  #failures = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;

  /** `now`: milliseconds of a clock that never jumps. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  mayAsk(): boolean {
    if (this.#failures < failuresToPause) return true;
    if (this.#now() < this.#pausedUntil) return false;
    // The others wait for the outcome of this one.
    this.#pausedUntil = this.#now() + pauseMillis;
    return true;
  }

  /** Returns true if the pause begins or ends with it. */
  note(isAnswered: boolean): boolean {
    const wasPaused = this.#failures >= failuresToPause;
    this.#failures = isAnswered ? 0 : this.#failures + 1;
    const isPaused = this.#failures >= failuresToPause;
    if (isPaused) this.#pausedUntil = this.#now() + pauseMillis;
    return wasPaused !== isPaused;
  }
}
