/** The longest that a token may live: what clients.token_lifetime_seconds and the setting are bounded by. */
export const longestTokenSeconds = 86_400;

/** How far the clocks of two processes may be apart. */
export const clockSkewMillis = 5 * 60_000;

export interface KeyTimes {
  /** From 1, without two alike: a higher one takes over. */
  readonly generation: number;
  readonly signsFrom: Date;
}

/**
 * `published`: known to all, not yet in use. `signing`: one at a time. `retired`: verifies what it signed, until the
 * last of it has died. `dead`: neither.
 */
export type KeyState = 'published' | 'signing' | 'retired' | 'dead';

/** Each key's state, which follows from the keys and the moment alone: every process comes to the same. */
export function keyStates<Key extends KeyTimes>(keys: readonly Key[], now: Date): Map<Key, KeyState> {
  return new Map(keys.map((key) => [key, keyState(key, keys, now)]));
}

/** The state of one of them. */
export function keyState(key: KeyTimes, keys: readonly KeyTimes[], now: Date): KeyState {
  return stateOf(key, supersededAt(key, keys), now.getTime());
}

function stateOf(key: KeyTimes, superseded: number, now: number): KeyState {
  if (now >= superseded + longestTokenSeconds * 1000 + clockSkewMillis) return 'dead';
  if (now >= superseded) return 'retired';
  return now >= key.signsFrom.getTime() ? 'signing' : 'published';
}

/** When a later key takes over from this one; infinity: none is to. In milliseconds. */
export function supersededAt(key: KeyTimes, keys: readonly KeyTimes[]): number {
  const later = keys.filter((other) => other.generation > key.generation);
  return Math.min(...later.map((other) => other.signsFrom.getTime()));
}
