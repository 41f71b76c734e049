import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ordersOfAge, waitingAges } from './waiting-ages.ts';

const now = new Date('2026-11-26T12:00:00.000Z');

/** The bands that have an order of this age. */
function bandsAt(millis: number): string[] {
  const at = now.getTime() - millis;
  return waitingAges.filter((age) => {
    const { after, until } = ordersOfAge(age, now);
    return (after === null || at > after.getTime()) && (until === null || at <= until.getTime());
  });
}

test('every age is in one band, and an edge belongs to the older one', () => {
  const minutes = (count: number) => count * 60_000;
  for (const [millis, band] of [
    [minutes(-5), 'UNDER_15_MINUTES'],
    [0, 'UNDER_15_MINUTES'],
    [minutes(15) - 1, 'UNDER_15_MINUTES'],
    [minutes(15), 'UNDER_AN_HOUR'],
    [minutes(60) - 1, 'UNDER_AN_HOUR'],
    [minutes(60), 'UNDER_A_DAY'],
    [minutes(24 * 60) - 1, 'UNDER_A_DAY'],
    [minutes(24 * 60), 'OLDER'],
    [minutes(1_000_000), 'OLDER'],
  ] as const)
    assert.deepEqual(bandsAt(millis), [band], `${millis} ms`);
});
