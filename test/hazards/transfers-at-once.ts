import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { TestDatabase } from '../support/database.ts';
import { type Answer, clientOf, type DemoCaller, memberOf, paths } from '../support/demo.ts';
import { mulberry32 } from '../support/random.ts';

/** Guarantees for any number of processes on one database. */
export interface Served {
  /** Target of every other request: two processes, or one port that several share. */
  readonly addresses: readonly [string, string];
  readonly db: TestDatabase;
}

interface EntryRow {
  readonly account_key: bigint;
  readonly account_id: string;
  readonly seq: bigint;
  readonly posting_key: bigint;
  readonly amount: bigint;
  readonly posted_after: bigint;
  readonly floor: bigint | null;
}

function entries({ superuser }: TestDatabase): Promise<EntryRow[]> {
  return superuser<EntryRow>(
    `select e.account_key, b.account_id, e.seq, e.posting_key, e.amount, e.posted_after, e.floor
     from entries e join balances b using (institution_id, account_key)
     where e.institution_id = (select institution_id from institutions where code = 'lakeside')
     order by e.account_key, e.seq`,
  );
}

async function ledgerSum({ superuser }: TestDatabase): Promise<bigint[]> {
  const rows = await superuser<{ total: string }>(
    'select sum(posted)::text as total from balances group by institution_id, currency',
  );
  return rows.map((row) => BigInt(row.total));
}

/** Registers the tests of simultaneous callers; `start` is called once before them. */
export function testTransfersAtOnce(start: () => Promise<Served>): void {
  let addresses: Served['addresses'];
  let address: string;
  let db: TestDatabase;
  let bank: DemoCaller;
  let bankBeside: DemoCaller;
  before(async () => {
    ({ addresses, db } = await start());
    [address] = addresses;
    bank = await clientOf({ address });
    bankBeside = await clientOf({ address: addresses[1] });
  });

  test('200 simultaneous transfers between few accounts, both ways, through two services, agree with a serial replay', async () => {
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

    // The replay: each account's first balance plus the completed orders.
    const expected = new Map<string, bigint>();
    for (const order of completed) {
      expected.set(order.fromAccountId, (expected.get(order.fromAccountId) ?? 0n) - order.cents);
      expected.set(order.toAccountId, (expected.get(order.toAccountId) ?? 0n) + order.cents);
    }
    const rows = await entries(db);
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
    assert.deepEqual(new Set(await ledgerSum(db)), new Set([0n]));
    // Each process numbers its postings from thousands of its own, so these show that two processes took part.
    const thousands = new Set(
      rows.flatMap((row) => (row.amount < 0n ? [(row.posting_key - 1n) / 1000n] : [])),
    );
    assert.ok(thousands.size >= 2, 'both processes settled some');
  });

  test('the same order sent 50 times at once moves the money once, and every response is the same transfer', async () => {
    const member = await memberOf({ address }, 'wren.many', 'wren-many-lantern-18');
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

  test('one of two simultaneous orders under one id succeeds through two services, and the other gets 409', async () => {
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

  test('many simultaneous payments spend an account to its floor and not below', async () => {
    // 120.00 and an overdraft line of 500.00, less the amount moved above: read the spendable amount now.
    const member = await memberOf({ address }, 'sage.card', 'sage-card-lantern-16');
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

  test('64 simultaneous orders at the edge of a limit are paid as far as it allows, and the others are declined with the limit', async () => {
    // Six withdrawals a month from a savings account at harbor.
    const harbor = ['harbor-app', 'harbor-app-secret'] as const;
    const callers = await Promise.all(addresses.map((address) => clientOf({ address }, harbor)));
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, index) => {
        const accounts = { fromAccountId: 'a-1001-savings', toAccountId: 'a-1001-checking' };
        const order = { id: `edge-${index}`, ...accounts, amount: 1 };
        return (callers[index % 2] as DemoCaller).post(paths.transfers, order);
      }),
    );
    assert.equal(answers.filter((answer) => answer.status === 201).length, 6);
    const refused = answers.filter((answer) => answer.status !== 201);
    assert.deepEqual(
      new Set(refused.map(({ status, body }) => `${status} ${body.code}`)),
      new Set(['422 limit_exceeded']),
    );
  });
}
