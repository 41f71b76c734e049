import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Answer, clientOf, type DemoCaller, memberOf, paths } from '../support/demo.ts';
import { mulberry32 } from '../support/random.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let second: TestService;
let bank: DemoCaller;
let bankBeside: DemoCaller;

before(async () => {
  service = await startTestService();
  // Two processes' services on one database: locks, ids and limits must hold between them, too.
  second = await startTestService({ beside: service });
  bank = await clientOf(service);
  bankBeside = await clientOf(second);
});
after(async () => {
  await second.close();
  await service.close();
});

interface EntryRow {
  readonly account_key: bigint;
  readonly account_id: string;
  readonly seq: bigint;
  readonly posting_key: bigint;
  readonly amount: bigint;
  readonly posted_after: bigint;
  readonly floor: bigint | null;
}

function entries(): Promise<EntryRow[]> {
  return service.db.superuser<EntryRow>(
    `select e.account_key, b.account_id, e.seq, e.posting_key, e.amount, e.posted_after, e.floor
     from entries e join balances b using (institution_id, account_key)
     where e.institution_id = (select institution_id from institutions where code = 'lakeside')
     order by e.account_key, e.seq`,
  );
}

async function ledgerSum(): Promise<bigint[]> {
  const rows = await service.db.superuser<{ total: string }>(
    'select sum(posted)::text as total from balances group by institution_id, currency',
  );
  return rows.map((row) => BigInt(row.total));
}

test('200 transfers at once between few accounts, both ways, through two services: a serial replay agrees', async () => {
  const few = ['a-1001-checking', 'a-1001-savings', 'a-1007-checking', 'a-1007-savings'] as const;
  const random = mulberry32(20_260_302);
  const orders = Array.from({ length: 200 }, (_, index) => {
    const from = few[random(few.length)] as string;
    const others = few.filter((account) => account !== from);
    const cents = 1 + random(60_000);
    return {
      id: `race-${index}`,
      fromAccountId: from,
      toAccountId: others[random(others.length)] as string,
      amount: cents / 100,
      cents: BigInt(cents),
    };
  });
  const answers = await Promise.all(
    orders.map(({ cents: _, ...order }, index) =>
      (index % 2 === 0 ? bank : bankBeside).post(paths.transfers, order),
    ),
  );
  const completed = orders.filter((_, index) => answers[index]?.status === 201);
  const refused = orders.filter((_, index) => answers[index]?.status === 422);
  assert.equal(completed.length + refused.length, 200);
  assert.ok(completed.length > 0 && refused.length > 0, 'both outcomes occur');
  for (const answer of answers.filter((one) => one.status === 422)) {
    assert.equal(answer.body.code, 'insufficient_funds');
  }

  // The replay: what each account had at first, plus what the completed orders say.
  const expected = new Map<string, bigint>();
  for (const order of completed) {
    expected.set(order.fromAccountId, (expected.get(order.fromAccountId) ?? 0n) - order.cents);
    expected.set(order.toAccountId, (expected.get(order.toAccountId) ?? 0n) + order.cents);
  }
  const rows = await entries();
  for (const accountId of few) {
    const own = rows.filter((row) => row.account_id === accountId);
    const opening = own[0]?.posted_after as bigint;
    assert.equal(own.at(-1)?.posted_after, opening + (expected.get(accountId) ?? 0n), accountId);
    let running = 0n;
    for (const [index, row] of own.entries()) {
      running += row.amount;
      assert.equal(row.seq, BigInt(index + 1), 'numbered without a gap');
      assert.equal(row.posted_after, running, 'each entry goes on from the one before');
      if (row.floor !== null) assert.ok(running >= row.floor, 'no entry passes its floor');
    }
  }
  assert.deepEqual(new Set(await ledgerSum()), new Set([0n]));
});

test('the same order sent 50 times at once moves the money once, and every answer is the same transfer', async () => {
  const member = await memberOf(service, 'wren.many', 'wren-many-lantern-18');
  const before = (await member.get(`${paths.accounts}/a-1019-checking`)).body.balance.currentBalance.amount;
  const order = {
    id: 'fifty',
    fromAccountId: 'a-1019-checking',
    toAccountId: 'a-1019-savings',
    amount: 12.34,
  };
  const answers = await Promise.all(Array.from({ length: 50 }, () => member.post(paths.transfers, order)));
  assert.equal(answers.filter((answer) => answer.status === 201).length, 1);
  assert.equal(answers.filter((answer) => answer.status === 200).length, 49);
  assert.equal(new Set(answers.map((answer) => answer.text)).size, 1);
  for (const answer of answers) {
    assert.equal(answer.headers.get('idempotent-replayed'), answer.status === 200 ? 'true' : null);
  }
  const after = (await member.get(`${paths.accounts}/a-1019-checking`)).body.balance.currentBalance.amount;
  assert.equal(Math.round((before - after) * 100), 1234);
});

test('the same id through two services at once, on other accounts: one order wins, the other is told', async () => {
  const orders = [
    { id: 'contested', fromAccountId: 'a-1002-checking', toAccountId: 'a-1002-savings', amount: 1 },
    { id: 'contested', fromAccountId: 'a-1003-checking', toAccountId: 'a-1003-savings', amount: 1 },
  ];
  const answers = await Promise.all(
    orders.flatMap((order) => [bank, bankBeside].map((caller) => caller.post(paths.transfers, order))),
  );
  const byStatus = (status: number): Answer[] => answers.filter((answer) => answer.status === status);
  assert.equal(byStatus(201).length, 1);
  assert.equal(byStatus(200).length, 1);
  assert.equal(byStatus(409).length, 2);
  assert.equal(byStatus(201)[0]?.text, byStatus(200)[0]?.text);
});

test('an account drained by many at once never passes its floor, and everything it had is spent', async () => {
  // 120.00 and an overdraft line of 500.00, less what the race above moved: read what may be spent now.
  const member = await memberOf(service, 'sage.card', 'sage-card-lantern-16');
  const all = 5600;
  const orders = Array.from({ length: 64 }, (_, index) => ({
    id: `drain-${index}`,
    fromAccountId: 'a-1014-checking',
    toAccountId: 'a-1001-savings',
    amount: 100,
  }));
  const answers = await Promise.all(orders.map((order) => member.post(paths.transfers, order)));
  assert.equal(answers.filter((answer) => answer.status === 201).length, all / 100);
  assert.equal(answers.filter((answer) => answer.status === 422).length, 64 - all / 100);
  const account = await member.get(`${paths.accounts}/a-1014-checking`);
  assert.match(account.text, /"currentBalance":\{"amount":0\.00,/);
});
