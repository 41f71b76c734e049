/** Seconds before each attempt after a failed one (Standard Webhooks): 75 hours in all. Then the event is parked. */
export const retryDelaysSeconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400] as const;

/** Attempts of one event before it is parked. */
export const attemptsOfAnEvent = 1 + retryDelaysSeconds.length;

/** So many failures in a row stop an endpoint: from then on one event at a time probes it. */
export const failuresThatStop = 5;

/** Seconds before each probe of a stopped endpoint; the last one repeats. */
const probeDelaysSeconds = [10, 30, 60, 300, 300, 300, 3_600] as const;

/** An endpoint that has failed for so long is disabled. */
export const failingHoursThatDisable = 120;

/** A longer `Retry-After` counts as this. */
const longestRetryAfterSeconds = 86_400;

/** The jitter of a delay: 1 is none. Attempts after an outage spread by a fifth. */
function jitter(random = Math.random()): number {
  return 0.9 + random / 5;
}

/** Undefined if the event has no attempt left. `attempts`: those made so far. */
export function retryAt(
  attempts: number,
  { at, retryAfterSeconds = 0, spread = jitter() }: Failed,
): Date | undefined {
  const seconds = retryDelaysSeconds[attempts - 1];
  if (seconds === undefined) return undefined;
  return later(at, Math.max(seconds * spread, retryAfterSeconds));
}

/** The moment before which nothing is sent to a failing endpoint; null while it is not stopped. */
export function probeAt(
  failures: number,
  { at, retryAfterSeconds = 0, spread = jitter() }: Failed,
): Date | null {
  if (failures < failuresThatStop) return retryAfterSeconds > 0 ? later(at, retryAfterSeconds) : null;
  const place = Math.min(failures - failuresThatStop, probeDelaysSeconds.length - 1);
  return later(at, Math.max((probeDelaysSeconds[place] as number) * spread, retryAfterSeconds));
}

export interface Failed {
  readonly at: Date;
  readonly retryAfterSeconds?: number | undefined;
  readonly spread?: number;
}

function later(at: Date, seconds: number): Date {
  return new Date(at.getTime() + Math.min(seconds, longestRetryAfterSeconds * 1.1) * 1000);
}
