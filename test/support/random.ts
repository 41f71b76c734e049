/** A small generator (mulberry32), so that a failing run can be repeated: whole numbers from 0 below the bound. */
export type Random = (below: number) => number;

export function mulberry32(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

export function pick<T>(random: Random, items: readonly T[]): T {
  return items[random(items.length)] as T;
}
