/** connected: the core asks for its instructions. away: it has not for so long that stand-in begins. */
export type ConnectionState = 'connected' | 'late' | 'away';

export interface Patience {
  readonly lateMillis: number;
  readonly awayMillis: number;
}

/** A sign of life further ahead than this was written by a clock that had jumped, and counts for nothing. */
const mostAheadMillis = 60_000;

/** The times of the core's last request, and of the oldest instruction that it has not fetched. Null: there is none. */
export interface Ages {
  readonly heardMillisAgo: number | null;
  readonly undeliveredMillis: number | null;
}

/** The older age decides. A core that was never heard is away. */
export function silenceOf({ heardMillisAgo, undeliveredMillis }: Ages): number {
  if (heardMillisAgo === null || heardMillisAgo < -mostAheadMillis) return Number.POSITIVE_INFINITY;
  return Math.max(heardMillisAgo, undeliveredMillis ?? 0);
}

export function stateOf(ages: Ages, { lateMillis, awayMillis }: Patience): ConnectionState {
  const age = silenceOf(ages);
  if (age >= awayMillis) return 'away';
  return age >= lateMillis ? 'late' : 'connected';
}
