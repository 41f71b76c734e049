import { Problem } from '../problem.ts';

/** What is counted for each client. */
export type Rate = 'token' | 'registration';

export interface RateLimitOptions {
  readonly name: Rate;
  readonly perMinute: number;
  readonly nowMillis: () => number;
}

const windowMillis = 60_000;

/**
 * Counts the requests of each client, in this process, a minute at a time from its first. `spend` answers the headers
 * `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10) and, where the minute's share was spent
 * before, the Problem `too_many_requests` beside them.
 *
 * Keys are clients that have authenticated: there are not more of them than are registered.
 */
export function rateLimit({ name, perMinute, nowMillis }: RateLimitOptions) {
  const windows = new Map<string, { readonly endsAt: number; spent: number }>();

  return function spend(clientId: string) {
    const now = nowMillis();
    let window = windows.get(clientId);
    if (window === undefined || window.endsAt <= now) {
      window = { endsAt: now + windowMillis, spent: 0 };
      windows.set(clientId, window);
    }
    const allowed = window.spent < perMinute;
    if (allowed) window.spent += 1;
    const secondsLeft = Math.ceil((window.endsAt - now) / 1000);
    return {
      headers: {
        'ratelimit-policy': `"${name}";q=${perMinute};w=${windowMillis / 1000}`,
        ratelimit: `"${name}";r=${perMinute - window.spent};t=${secondsLeft}`,
      },
      refusal: allowed
        ? undefined
        : new Problem('too_many_requests', 'There were too many requests of this kind.', {
            retryAfterSeconds: secondsLeft,
          }),
    };
  };
}
