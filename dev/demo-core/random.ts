import { createHash } from 'node:crypto';

/** Whole numbers from 0 below the bound; the same name gives the same numbers, on every machine. */
export type Random = (below: number) => number;

export function randomOf(name: string): Random {
  let state = createHash('sha256').update(name).digest().readInt32LE(0);
  // mulberry32
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

export function between(random: Random, least: number, most: number): number {
  return least + random(most - least + 1);
}

export function pick<T>(random: Random, items: readonly [T, ...T[]]): T {
  return items[random(items.length)] ?? items[0];
}

/** True this many times in a hundred. */
export function chance(random: Random, percent: number): boolean {
  return random(100) < percent;
}

export function shuffled<T>(random: Random, items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: random(2 ** 31) }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
