/** The longest lifetime of a token, in clients.token_lifetime_seconds and in the setting. */
export const longestTokenSeconds = 86_400;

/** The tolerated difference between the clocks of two processes. */
export const clockSkewMillis = 5 * 60_000;

export interface KeyTimes {
  /** A unique number from 1. A key takes over from keys with lower numbers. */
  readonly generation: number;
  readonly signsFrom: Date;
}

/**
 * `published`: verifiers fetch it before its use. `signing`: one key at a time. `retired`: verifies until its last token has
 * expired. `expired`: neither signs nor verifies.
 */
export type KeyState = 'published' | 'signing' | 'retired' | 'expired';

/** The state depends on the keys and the time only, so all processes compute the same. */
export function keyStates<Key extends KeyTimes>(keys: readonly Key[], now: Date): Map<Key, KeyState> {
  return new Map(keys.map((key) => [key, keyState(key, keys, now)]));
}

export function keyState(key: KeyTimes, keys: readonly KeyTimes[], now: Date): KeyState {
  return stateOf(key, supersededAt(key, keys), now.getTime());
}

function stateOf(key: KeyTimes, superseded: number, now: number): KeyState {
  if (now >= superseded + longestTokenSeconds * 1000 + clockSkewMillis) return 'expired';
  if (now >= superseded) return 'retired';
  return now >= key.signsFrom.getTime() ? 'signing' : 'published';
}

/** The time at which a later key takes over, in milliseconds; infinity if there is none. */
export function supersededAt(key: KeyTimes, keys: readonly KeyTimes[]): number {
  const later = keys.filter((other) => other.generation > key.generation);
  return Math.min(...later.map((other) => other.signsFrom.getTime()));
}
