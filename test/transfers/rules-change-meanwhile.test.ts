import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { ownOrigin } from '../../src/events/index.ts';
import { saveTransferRules } from '../../src/transfers/index.ts';
import { type Answer, clientOf, type DemoCaller, memberOf, paths } from '../support/demo.ts';
import { deskOf, eventually } from '../support/desk.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* An operator sets limits, and the core names another owner, while an order waits for its locks. */

let service: TestService;
let member: DemoCaller;
let bank: DemoCaller;
before(async () => {
  service = await startTestService();
  member = await memberOf(service, 'demo.member', 'demo-member-password');
  bank = await clientOf(service);
});
after(() => service.close());

const limit = {
  limitKey: 1,
  subject: 'USER',
  period: 'DAY',
  transferType: null,
  sourceType: null,
  currency: 'USD',
  maxPerTransfer: null,
  maxAmount: 100_00n,
  maxCount: null,
  reviewAbove: null,
} as const;

const pay = (caller: DemoCaller, toAccountId: string) =>
  caller.post(paths.transfers, { fromAccountId: 'a-1001-checking', toAccountId, amount: 1 });

/** The order waits for a counter that another session holds while the rest happens. */
async function between(limitKey: number, order: () => Promise<Answer>, happens: () => Promise<unknown>) {
  const stranger = new pg.Client(service.db.owner);
  await stranger.connect();
  try {
    await stranger.query(`begin; select from limit_counters where limit_key = ${limitKey} for update`);
    const answered = order();
    await eventually(
      () =>
        service.db.superuser<{ waiting: boolean }>(
          `select exists (select from pg_stat_activity where wait_event_type = 'Lock'
             and datname = current_database()) as waiting`,
        ),
      ([row]) => row?.waiting === true,
    );
    await happens();
    await stranger.query('rollback');
    return await answered;
  } finally {
    await stranger.end();
  }
}

test('a limit set after an order has locked its counters fails no one, and binds the order', async () => {
  await using operator = await deskOf(service);
  const lay = (limits: Parameters<typeof saveTransferRules>[2]['rules']['limits']) =>
    saveTransferRules(operator, operator.institutionId, {
      rules: {
        policies: [],
        limits,
        businessDays: [],
        contributionLimits: [],
      },
      origin: ownOrigin(),
    });
  await lay([limit]);
  assert.equal((await pay(member, 'a-1001-savings')).status, 201);
  const answer = await between(
    1,
    () => pay(member, 'a-1001-savings'),
    () => lay([limit, { ...limit, limitKey: 2 }, { ...limit, limitKey: 3, maxAmount: 99n }]),
  );
  assert.equal(answer.status, 422, answer.text);
  assert.equal(answer.body.code, 'limit_exceeded');
  await lay([limit]);
  const other = await between(
    1,
    () => pay(member, 'a-1001-savings'),
    () => lay([limit, { ...limit, limitKey: 2 }]),
  );
  assert.equal(other.status, 201, other.text);
  const [counted] = await service.db.superuser<{ amount: bigint }>(
    'select amount from limit_counters where limit_key = 2',
  );
  assert.equal(counted?.amount, 1_00n);
});

test('an IRA that gets another owner from the core meanwhile counts for the new one', async () => {
  assert.equal((await pay(bank, 'a-1001-ira')).status, 201);
  const answer = await between(
    0,
    () => pay(bank, 'a-1001-ira'),
    () =>
      service.db.superuser(
        `update holders h set person_key = (
           select max(p.person_key) from persons p where p.institution_id = h.institution_id)
         from accounts a
         where a.institution_id = h.institution_id and a.account_key = h.account_key
           and a.account_id = 'a-1001-ira' and h.role = 'PRIMARY'
           and h.institution_id = (select institution_id from institutions where code = 'lakeside')`,
      ),
  );
  assert.equal(answer.status, 201, answer.text);
  const counted = await service.db.superuser<{ amount: bigint }>(
    'select amount from limit_counters where limit_key = 0 and amount > 0',
  );
  assert.deepEqual(
    counted.map(({ amount }) => amount),
    [1_00n, 1_00n],
  );
});
