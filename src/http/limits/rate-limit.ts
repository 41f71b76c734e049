import { Problem } from '../../shared/problem.ts';

/** The kinds of requests that are counted: the setting of each, and its default a minute. */
export const rates = {
  token: ['tokensPerMinute', 600_000],
  registration: ['registrationsPerMinute', 60_000],
  'dry-run': ['dryRunsPerMinute', 300],
  options: ['optionsPerMinute', 300],
  'look-up': ['lookUpsPerMinute', 300],
  'contact-change': ['contactChangesPerMinute', 10],
  'id-conflict': ['idConflictsPerMinute', 30],
} as const;

export type Rate = keyof typeof rates;

export interface RateLimitOptions {
  readonly name: Rate;
  readonly nowMillis: () => number;
}

export interface Spent {
  readonly headers: Readonly<Record<'ratelimit-policy' | 'ratelimit', string>>;
  readonly refusal: Problem | undefined;
  /** True for the first refusal of this key in its minute, which is logged. */
  readonly isFirstRefusal: boolean;
}

const windowMillis = 60_000;

interface Window {
  readonly endsAt: number;
  spent: number;
  refused: boolean;
}

/** The requests of one key in progress, and those that wait for a slot. */
interface UnderWay {
  places: number;
  readonly waiting: (() => void)[];
}

/**
 * Counts the requests of each key in this process, in windows of a minute that begin with the first request. `spend` returns
 * the headers `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10) and, if the share of the minute
 * is spent, the Problem `too_many_requests`.
 *
 * `enter` is for requests that count only by their outcome. It counts nothing, and waits while as many requests of the key
 * are in progress as its share has left, so that parallel requests spend no more than the share. Unless `enter` refuses,
 * `leave` must follow.
 *
 * Keys are authenticated clients and users. Ended windows are removed once a minute.
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

  /** Called after a refusal too: with nothing in progress, nothing else would wake the waiting requests. */
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
