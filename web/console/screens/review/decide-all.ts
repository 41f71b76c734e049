/** The outcome of one of several decisions. */
export interface Outcome {
  readonly kind: 'good' | 'warn' | 'bad';
  readonly words: string;
  /** The others are not sent: the session ended, or nobody knows whether the service is there. */
  readonly stops?: boolean;
}

interface Deciding {
  /** One request. It never throws: a refusal is an outcome. */
  readonly decide: (id: string) => Promise<Outcome>;
  readonly isStopped: () => boolean;
  readonly onOutcome: (id: string, outcome: Outcome) => void;
}

/**
 * Decides on several transfers by a request each, one after another, so that each has its own outcome and its own audit entry, and a stop
 * leaves the rest as it was.
 */
export async function decideAll(
  ids: readonly string[],
  { decide, isStopped, onOutcome }: Deciding,
): Promise<void> {
  for (const id of ids) {
    if (isStopped()) return;
    const outcome = await decide(id);
    onOutcome(id, outcome);
    if (outcome.stops) return;
  }
}
