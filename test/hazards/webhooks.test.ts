import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endureHazards } from '../webhooks/hazards.ts';

/* A short run of scripts/webhook-hazards.ts. */

test('each event reaches hostile receivers in order through kill -9 of two senders and a restore, and they prove it', async (context) => {
  const { faults, ...counts } = await endureHazards({ seed: 20_261_123, seconds: 2, lateMillis: 400 });
  context.diagnostic(JSON.stringify(counts));
  assert.deepEqual(faults, []);
  assert.ok(
    counts.repeated > 0 && counts.lostByReceivers > 0 && counts.undoneByRestore > 0 && counts.kills > 0,
  );
});
