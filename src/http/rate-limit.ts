import { Problem } from '../problem.ts';

/** What is counted: for each client, or for each user where the token is a member's. */
export type Rate = 'token' | 'registration' | 'dry-run' | 'options' | 'look-up' | 'id-conflict';

export interface RateLimitOptions {
  readonly name: Rate;
  readonly nowMillis: () => number;
}

export interface Spent {
  readonly headers: Readonly<Record<'ratelimit-policy' | 'ratelimit', string>>;
  readonly refusal: Problem | undefined;
  /** The first refusal of this key in its minute: the one for the log. */
  readonly isFirstRefusal: boolean;
}

const windowMillis = 60_000;

interface Window {
  readonly endsAt: number;
  spent: number;
  refused: boolean;
}

/**
 * Counts the requests of each key, in this process, a minute at a time from its first. `spend` returns the headers
 * `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10) and, if the minute's share was spent
 * before, the Problem `too_many_requests` beside them. `look` does the same and counts nothing.
 *
 * Keys are clients and users that have authenticated. Windows that have ended are forgotten once a minute.
 */
export function rateLimit({ name, nowMillis }: RateLimitOptions) {
  const windows = new Map<string, Window>();
  let forgetAt = 0;

  function windowOf(key: string, now: number): Window {
    const known = windows.get(key);
    if (known !== undefined && known.endsAt > now) return known;
    if (now >= forgetAt) {
      for (const [other, { endsAt }] of windows) if (endsAt <= now) windows.delete(other);
      forgetAt = now + windowMillis;
    }
    const window = { endsAt: now + windowMillis, spent: 0, refused: false };
    windows.set(key, window);
    return window;
  }

  function count(key: string, perMinute: number, cost: 0 | 1): Spent {
    const now = nowMillis();
    const window = windowOf(key, now);
    const allowed = window.spent < perMinute;
    if (allowed) window.spent += cost;
    const isFirstRefusal = !allowed && !window.refused;
    if (!allowed) window.refused = true;
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
      isFirstRefusal,
    };
  }

  return {
    spend: (key: string, perMinute: number) => count(key, perMinute, 1),
    look: (key: string, perMinute: number) => count(key, perMinute, 0),
  };
}
