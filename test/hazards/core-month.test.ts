import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulateMonth } from '../support/month.ts';

/* Two days of the month of scripts/core-month.ts. */

test('lost postings have breaks until they arrive, and both books agree to the cent after days of faults and kill -9 of the service, the core and the database', {
  skip: process.platform !== 'linux' && 'the harness is written for Linux',
}, async (context) => {
  const { differences, ...month } = await simulateMonth({
    seed: 20_261_123,
    days: 2,
    members: 15,
    daySeconds: 3,
    ordersPerDay: 45,
    calmSeconds: 0.3,
  });
  context.diagnostic(JSON.stringify(month));
  assert.deepEqual(differences, []);
  const ordered = Object.values(month.orders).reduce((sum, count) => sum + count, 0);
  assert.ok(ordered > 10 && month.coreTransactions > 30);
  assert.ok(month.named > 0, 'no lost posting was named');
  // The next comparison may find that the balances agree before the sweeper sees that the posting has arrived.
  const closed = ['ARRIVED', 'AGREED'].map((end) => month.breaks[`MISSING_HERE ${end}`] ?? 0);
  assert.ok(closed.reduce((sum, count) => sum + count, 0) >= month.named);
  assert.ok(Object.keys(month.disturbances).some((name) => name.startsWith('kill ')));
});
