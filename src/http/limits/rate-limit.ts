import { Problem } from '../../shared/problem.ts';

/** What is counted: for each client, or for each user where the token is a member's. */
export type Rate =
  | 'token'
  | 'registration'
  | 'dry-run'
  | 'options'
  | 'look-up'
  | 'contact-change'
  | 'id-conflict';

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

/** What one key has under way, and who waits for a place among it. */
interface UnderWay {
  places: number;
  readonly waiting: (() => void)[];
}

/**
 * Counts the requests of each key, in this process, a minute at a time from its first. `spend` returns the headers
 * `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10) and, if the minute's share was spent
 * before, the Problem `too_many_requests` beside them.
 *
 * `enter` is for what is counted only when its outcome is known: it counts nothing, and waits while as many are under way as
 * the key has left, so that requests sent at once spend no more than the share. Without a refusal `leave` must follow.
 *
 * Keys are clients and users that have authenticated. Windows that have ended are forgotten once a minute.
 */
export function rateLimit({ name, nowMillis }: RateLimitOptions) {
  const windows = new Map<string, Window>();
  const underWay = new Map<string, UnderWay>();
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

  function underWayOf(key: string): UnderWay {
    const mine = underWay.get(key) ?? { places: 0, waiting: [] };
    underWay.set(key, mine);
    return mine;
  }

  async function enter(key: string, perMinute: number): Promise<Spent> {
    for (;;) {
      const seen = count(key, perMinute, 0);
      const mine = underWayOf(key);
      if (seen.refusal !== undefined) {
        wakeNext(key, mine);
        return seen;
      }
      if (mine.places < perMinute - windowOf(key, nowMillis()).spent) {
        mine.places += 1;
        return seen;
      }
      await new Promise<void>((resolve) => mine.waiting.push(resolve));
    }
  }

  function leave(key: string): void {
    const mine = underWayOf(key);
    mine.places -= 1;
    wakeNext(key, mine);
  }

  /** Also behind a refusal: nobody else would wake those who wait when nothing is under way. */
  function wakeNext(key: string, { places, waiting }: UnderWay): void {
    waiting.shift()?.();
    if (places === 0 && waiting.length === 0) underWay.delete(key);
  }

  return {
    spend: (key: string, perMinute: number) => count(key, perMinute, 1),
    enter,
    leave,
  };
}
