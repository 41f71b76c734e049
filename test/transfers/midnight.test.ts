import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ownOrigin } from '../../src/events/index.ts';
import { reconcile } from '../../src/reconciliation/index.ts';
import { saveTransferRules } from '../../src/transfers/index.ts';
import { type DemoCaller, memberOf, paths } from '../support/demo.ts';
import { deskOf, type TestDesk } from '../support/desk.ts';
import { startTestService, type TestService } from '../support/service.ts';

/*
 * Two processes with slightly different clocks take orders while the day, month and year change in New York: each
 * order counts for its own day, and no day, month or year exceeds its limit.
 */

const newYear = Date.parse('2027-01-01T05:00:00Z');
let now = newYear - 500;
let service: TestService;
let ahead: TestService;
let callers: DemoCaller[];
let desk: TestDesk;
before(async () => {
  service = await startTestService({ clock: () => new Date(now) });
  ahead = await startTestService({ clock: () => new Date(now + 250), beside: service });
  callers = await Promise.all(
    [service, ahead].map((one) => memberOf(one, 'demo.member', 'demo-member-password')),
  );
  desk = await deskOf(service);
});
after(async () => {
  await desk[Symbol.asyncDispose]();
  await ahead.close();
  await service.close();
});

const limit = {
  subject: 'USER',
  transferType: null,
  sourceType: null,
  currency: 'USD',
  maxPerTransfer: null,
  reviewAbove: null,
} as const;

test('orders through two processes at the change of year use each day, month and year to its last cent', async () => {
  await saveTransferRules(desk, desk.institutionId, {
    rules: {
      policies: [],
      limits: [
        { ...limit, limitKey: 1, period: 'DAY', maxAmount: null, maxCount: 15 },
        { ...limit, limitKey: 2, period: 'MONTH', maxAmount: 14_00n, maxCount: null },
      ],
      businessDays: [],
      contributionLimits: [
        { year: 2026, limitCents: 6_00n, catchUpCents: 0n },
        { year: 2027, limitCents: 7_00n, catchUpCents: 0n },
      ],
    },
    origin: ownOrigin(),
  });
  // Processes read the rules within a second of real time.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const order = async (index: number, toAccountId: string) => {
    const order = { fromAccountId: 'a-1001-checking', toAccountId, amount: 1 };
    const answer = await (callers[index % 2] as DemoCaller).post(paths.transfers, order);
    assert.ok([201, 422].includes(answer.status), answer.text);
  };
  const wave = async (number: number) => {
    now = newYear - 400 + number * 100;
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        order(index, index % 3 === 0 ? 'a-1001-ira' : 'a-1001-savings'),
      ),
    );
  };
  await wave(0);
  // The clock moves while the previous wave is still being settled.
  const running: Promise<void>[] = [];
  for (let number = 1; number < 9; number++) {
    running.push(wave(number));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await Promise.all(running);
  await wave(9);

  const ordered = await service.db.superuser<{ day: string; type: string; outcome: string }>(
    `select to_char(created_at at time zone 'America/New_York', 'YYYY-MM-DD') as day, transfer_type as type,
            coalesce(failure_code, status) as outcome
     from transfers where institution_id = $1`,
    [desk.institutionId],
  );
  const count = (day: string, outcome: string, type?: string) =>
    ordered.filter(
      (row) => row.day === day && row.outcome === outcome && (type === undefined || row.type === type),
    ).length;
  for (const [day, contributions] of [
    ['2026-12-31', 6],
    ['2027-01-01', 7],
  ] as const) {
    const done = count(day, 'COMPLETED');
    assert.ok(done <= 14, `${done} on ${day}`);
    if (count(day, 'limit_exceeded') > 0) assert.equal(done, 14, 'none is refused while there is room');
    const contributed = count(day, 'COMPLETED', 'IRA_CONTRIBUTION');
    assert.ok(contributed <= contributions, `${contributed} on ${day}`);
    if (count(day, 'exceeds_contribution_limit') > 0) assert.equal(contributed, contributions);
  }
  assert.ok(count('2026-12-31', 'COMPLETED') > 0);
  assert.equal(count('2027-01-01', 'COMPLETED'), 14);
  const findings: object[] = [];
  await reconcile(desk.database, desk.institutionId, {
    at: new Date(now + 250),
    onFinding: (finding) => findings.push(finding),
  });
  assert.deepEqual(findings, []);
});
