import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedMegabytes } from './server-process.ts';

const gibibyte = 2 ** 30;

for (const [machine, allowed, expected, why] of [
  [8 * gibibyte, 0, 1_024, 'an eighth of the machine'],
  [64 * gibibyte, 4 * gibibyte, 512, 'an eighth of what a container is allowed'],
  // Node's value without a limit: the largest number of the kernel.
  [16 * gibibyte, 2 ** 64, 2_048, 'no limit'],
  [gibibyte, 0, 256, 'a small machine'],
  [1_024 * gibibyte, 0, 4_096, 'a large one'],
] as const) {
  test(`sizes the shared memory of the embedded server: ${why}`, () => {
    assert.equal(sharedMegabytes(machine, allowed), expected);
  });
}
