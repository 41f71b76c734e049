import assert from 'node:assert/strict';
import os from 'node:os';
import { test } from 'node:test';
import { PasswordHasher } from '../../src/auth/index.ts';
import { prioritiesOf } from '../support/threads.ts';

const skip = process.platform !== 'linux' && 'a priority is a thread’s own on Linux alone';
test('threads that hash passwords have a lower priority than the thread that serves', { skip }, async () => {
  const before = os.getPriority();
  const { PRIORITY_BELOW_NORMAL } = os.constants.priority;
  assert.equal(await new PasswordHasher(1).verify(null, 'a password of nobody'), false);
  const threads = await prioritiesOf(process.pid, 'libuv-worker');
  assert.ok(threads.length > 0);
  assert.deepEqual(new Set(threads), new Set([Math.max(before, PRIORITY_BELOW_NORMAL)]));
  assert.equal(os.getPriority(), before);
});
