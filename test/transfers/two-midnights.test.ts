import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownOrigin } from '../../src/events/index.ts';
import { type Finding, reconcile } from '../../src/reconciliation/index.ts';
import { saveTransferRules } from '../../src/transfers/index.ts';
import { memberOf, paths } from '../support/demo.ts';
import { deskOf, manualClock } from '../support/desk.ts';
import { startTestService } from '../support/service.ts';

/*
 * On the Azores clocks go back from 01:00 to 00:00 at 01:00 UTC on 25 October 2026: that day has two midnights. A
 * limit counts from the first, and so does reconciliation.
 */

test('a limit counts from the first of two midnights, and reconcile finds nothing', async () => {
  const { clock, set } = manualClock('2026-10-24T23:30:00Z');
  await using service = await startTestService({ clock });
  await service.db.superuser(`update institutions set time_zone = 'Atlantic/Azores'`);
  await using desk = await deskOf(service);
  await saveTransferRules(desk, desk.institutionId, {
    rules: {
      policies: [],
      limits: (['DAY', 'MONTH'] as const).map((period, index) => ({
        limitKey: index + 1,
        subject: 'USER',
        period,
        transferType: null,
        sourceType: null,
        currency: 'USD',
        maxPerTransfer: null,
        maxAmount: 1_000_00n,
        maxCount: null,
        reviewAbove: null,
      })),
      businessDays: [],
      contributionLimits: [],
    },
    origin: ownOrigin(),
  });
  // Processes read the rules and the zone within a second of real time.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  for (const [at, amount] of [
    ['2026-10-24T23:30:00Z', 1], // 23:30, the day before
    ['2026-10-25T00:30:00Z', 2], // 00:30
    ['2026-10-25T01:30:00Z', 4], // 00:30 again
    ['2026-10-26T00:59:00Z', 8], // 23:59
    ['2026-10-26T01:00:00Z', 16], // midnight
  ] as const) {
    set(at);
    const member = await memberOf(service, 'demo.member', 'demo-member-password');
    const order = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount };
    const answer = await member.post(paths.transfers, order);
    assert.equal(answer.status, 201, answer.text);
  }
  const counted = await service.db.superuser(
    `select to_char(period_start, 'MM-DD') as day, amount::integer from limit_counters
     where limit_key > 0 order by limit_key, period_start`,
  );
  assert.deepEqual(counted, [
    { day: '10-24', amount: 100 },
    { day: '10-25', amount: 1_400 },
    { day: '10-26', amount: 1_600 },
    { day: '10-01', amount: 3_100 },
  ]);
  const found: Finding[] = [];
  await reconcile(desk.database, desk.institutionId, {
    at: clock(),
    onFinding: (finding) => found.push(finding),
  });
  assert.deepEqual(found, []);
});
