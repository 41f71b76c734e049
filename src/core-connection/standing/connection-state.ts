/** connected: the core asks for its instructions. away: it has not for so long that stand-in begins. */
export type ConnectionState = 'connected' | 'late' | 'away';

export interface Patience {
  readonly lateMillis: number;
  readonly awayMillis: number;
}

/** A sign of life further ahead than this was written by a clock that had jumped, and counts for nothing. */
const mostAheadMillis = 60_000;

/**
 * The older of two ages decides: of the core's last request, and of the oldest instruction that it has not fetched. A core
 * that was never heard is away.
 */
export function stateOf(
  ages: { readonly heardMillisAgo: number | null; readonly undeliveredMillis: number | null },
  { lateMillis, awayMillis }: Patience,
): ConnectionState {
  const { heardMillisAgo, undeliveredMillis } = ages;
  if (heardMillisAgo === null || heardMillisAgo < -mostAheadMillis) return 'away';
  const age = Math.max(heardMillisAgo, undeliveredMillis ?? 0);
  if (age >= awayMillis) return 'away';
  return age >= lateMillis ? 'late' : 'connected';
}
