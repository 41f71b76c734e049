/**
 * Seconds from each attempt to the next: 23.6 hours in all. The first is longer than the deadline of a request, so that no process sends
 * a notice that another one is still sending.
 */
export const retryDelaysSeconds = [20, 60, 300, 1_800, 3_600, 7_200, 14_400, 21_600, 36_000] as const;

/** Attempts of one notice. */
export const mostAttempts = 1 + retryDelaysSeconds.length;
