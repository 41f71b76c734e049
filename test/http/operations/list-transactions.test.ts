import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Book, PostingKeys } from '../../../src/ledger/index.ts';
import type { InstitutionId } from '../../../src/storage/index.ts';
import { balanceControlTotal } from '../../support/builders.ts';
import { type Answer, clientOf, type DemoCaller, memberOf, paths } from '../../support/demo.ts';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
let app: DemoCaller;
let member: DemoCaller;
let pebble: DemoCaller;
let fern: DemoCaller;
let sage: DemoCaller;
let now = new Date('2026-03-02T12:00:00Z');

before(async () => {
  service = await startTestService({ clock: () => now });
  [app, member, pebble, fern, sage] = await Promise.all([
    clientOf(service),
    memberOf(service, 'demo.member', 'demo-member-password'),
    memberOf(service, 'pebble.primary', 'pebble-blue-lantern-1'),
    memberOf(service, 'fern.joint', 'fern-green-lantern-2'),
    memberOf(service, 'sage.card', 'sage-card-lantern-16'),
  ]);
});
after(() => service.close());

const checking = 'a-1001-checking';
const joint = 'a-1002-checking';
const loan = 'a-1001-carloan';

function later(millis = 60_000): void {
  now = new Date(now.getTime() + millis);
}

const list = (caller: DemoCaller, account: string, query = '') =>
  caller.get(`${paths.accounts}/${account}/transactions?${query}`);

async function transactions(caller: DemoCaller, account: string, query = 'limit=200') {
  const answer = await list(caller, account, query);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

async function pay(caller: DemoCaller, id: string, from: string, to: string, amount: number): Promise<void> {
  const answer = await caller.post(paths.transfers, { id, fromAccountId: from, toAccountId: to, amount });
  assert.equal(answer.status, 201, answer.text);
}

async function walk(caller: DemoCaller, account: string, query: string): Promise<Answer['body'][]> {
  const pages: Answer['body'][] = [];
  for (let path: string | undefined = `${paths.accounts}/${account}/transactions?${query}`; path; ) {
    const answer = await caller.get(path);
    assert.equal(answer.status, 200, answer.text);
    pages.push(answer.body);
    path = /^<http:\/\/sharedraft\.test(.*)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
    assert.ok(pages.length < 2_000);
  }
  return pages;
}

/** A pending transfer in the ledger and the table of transfers, at the clock's time. */
async function hold(id: string, from: string, to: string, amountMinor: bigint, by: string) {
  const { database } = service.service.context;
  const [institution] = await service.db.superuser<{ institution_id: InstitutionId }>(
    `select institution_id from institutions where code = 'lakeside'`,
  );
  const institutionId = institution?.institution_id as InstitutionId;
  const key = await new PostingKeys(database).next();
  const move = (kind: 'HOLD' | 'TRANSFER' | 'RELEASE', posted: bigint, held: bigint) =>
    database.transaction(institutionId, async (tx) => {
      const book = await Book.lock(tx, [from, to]);
      const bounds = { floor: -amountMinor, ceiling: null };
      const out = { accountId: from, change: { posted: -posted, debitsPending: held }, bounds };
      const into = { accountId: to, change: { posted, creditsPending: held }, bounds };
      assert.equal(book.apply(key, kind, out, into), null);
      await book.write(now);
      await balanceControlTotal(tx);
    });
  await service.db.superuser(
    `insert into transfers (institution_id, transfer_key, transfer_id, transfer_type, from_account_id, to_account_id,
                            from_key, to_key, amount, currency, status, client_id, user_key, created_at)
     select $1, $2, $3, 'INTRA_FI', $4, $5, f.account_key, t.account_key, $6, 'USD', 'PENDING', 'demo-app', u.user_key, $8
     from (select set_config('session_replication_role', 'replica', true) offset 0) past_triggers,
          accounts f, accounts t, users u
     where f.institution_id = $1 and f.account_id = $4 and t.institution_id = $1 and t.account_id = $5
       and u.institution_id = $1 and u.username = $7`,
    [institutionId, key, id, from, to, amountMinor, by, now],
  );
  await move('HOLD', 0n, amountMinor);
  // The triggers are off, because they would require a reason.
  const end = (status: string) =>
    service.db.superuser(
      `begin; set local session_replication_role = replica;
       update transfers set status = '${status}', settled_at = '${now.toISOString()}',
         failure_code = case '${status}' when 'FAILED' then 'insufficient_funds' end,
         failure_detail = case '${status}' when 'FAILED' then 'Less available.' end
       where transfer_key = ${key}; commit`,
    );
  return {
    async post() {
      await move('TRANSFER', amountMinor, -amountMinor);
      await end('COMPLETED');
    },
    async release() {
      await end('FAILED');
      await move('RELEASE', 0n, -amountMinor);
    },
  };
}

test('lists each movement of a deposit with its amount and the balance after it, newest first', async () => {
  const before = await transactions(member, checking);
  later();
  await pay(member, 'tx-out', checking, 'a-1001-savings', 12.34);
  later();
  await pay(member, 'tx-in', 'a-1001-savings', checking, 2);
  const all = await transactions(member, checking);
  const opening = before[0];
  assert.equal(opening.type, 'OPENING_BALANCE');
  assert.deepEqual(all.slice(2), before);
  const opened = opening.ledgerBalance.amount;
  const [credit, debit] = all;
  assert.deepEqual(
    [debit, credit].map(({ id, ...rest }) => rest),
    [
      {
        transactionDate: '2026-03-02T12:01:00.000Z',
        type: 'TRANSFER_DEBIT',
        description: 'Transfer out',
        amount: { amount: -12.34, currencyCode: 'USD' },
        ledgerBalance: { amount: Math.round((opened - 12.34) * 100) / 100, currencyCode: 'USD' },
        isPending: false,
        isCreditTransaction: false,
        transferId: 'tx-out',
        counterparty: { name: 'Willow Testerman', accountId: 'a-1001-savings' },
      },
      {
        transactionDate: '2026-03-02T12:02:00.000Z',
        type: 'TRANSFER_CREDIT',
        description: 'Transfer in',
        amount: { amount: 2, currencyCode: 'USD' },
        ledgerBalance: { amount: Math.round((opened - 10.34) * 100) / 100, currencyCode: 'USD' },
        isPending: false,
        isCreditTransaction: true,
        transferId: 'tx-in',
        counterparty: { name: 'Willow Testerman', accountId: 'a-1001-savings' },
      },
    ],
  );
  assert.deepEqual(await transactions(app, checking), all, 'the same to the institution');
});

test('the balance after each transaction is the one before it plus its amount, for every account', async () => {
  const known = await service.db.superuser<{ account_id: string }>(
    `select account_id from accounts join institutions i using (institution_id)
     where i.code = 'lakeside' and category <> 'INTERNAL'`,
  );
  let compared = 0;
  for (const { account_id } of known) {
    let balance = 0;
    for (const one of (await transactions(app, account_id)).reverse()) {
      balance = Math.round((balance + one.amount.amount) * 10_000) / 10_000;
      assert.equal(one.ledgerBalance.amount, balance);
      compared += 1;
    }
  }
  assert.ok(compared > 50);
});

test('shows a debt with the opposite sign, like the balance, so a payment reduces it', async () => {
  later();
  await pay(member, 'tx-loan', checking, loan, 100);
  const [payment, opening] = await transactions(member, loan);
  assert.equal(payment.type, 'PAYMENT');
  assert.equal(payment.amount.amount, -100);
  assert.equal(payment.isCreditTransaction, true);
  assert.ok(opening.amount.amount > 0);
  assert.equal(
    Math.round((opening.ledgerBalance.amount - payment.ledgerBalance.amount) * 100),
    10_000,
    'the debt falls',
  );
  const { body: cards } = await sage.get(paths.accounts);
  const card = cards.find((one: { category: string }) => one.category === 'CREDIT');
  const [owed] = await transactions(sage, card.accountId);
  assert.equal(owed.ledgerBalance.amount, card.balance.currentBalance.amount);
});

describe('a held transfer in the history', () => {
  test('shows a held transfer once: pending first, then posted under the same id', async () => {
    later();
    const posted = await transactions(pebble, joint);
    const held = await hold('held-1', joint, 'a-1001-checking', 500n, 'pebble.primary');
    const [pending, ...rest] = await transactions(pebble, joint);
    assert.deepEqual(rest, posted);
    assert.equal(pending.isPending, true);
    assert.deepEqual(pending.amount, { amount: -5, currencyCode: 'USD' });
    assert.ok(!('ledgerBalance' in pending));
    assert.equal(pending.transferId, 'held-1');
    assert.equal(pending.transactionDate, now.toISOString());

    assert.deepEqual(await transactions(pebble, joint, 'status=PENDING'), [pending]);
    assert.deepEqual(await transactions(pebble, joint, 'status=POSTED&limit=200'), posted);
    assert.deepEqual(await transactions(fern, joint, 'status=PENDING'), [pending], 'to the other holder');
    assert.deepEqual(
      await transactions(member, checking, 'status=PENDING'),
      [],
      'hidden from the possible payee',
    );

    later();
    await held.post();
    const [done, ...others] = await transactions(pebble, joint);
    assert.deepEqual(others, posted);
    assert.equal(done.isPending, false);
    assert.equal(done.id, pending.id);
    assert.equal(done.transactionDate, now.toISOString());
    assert.deepEqual(await transactions(pebble, joint, 'status=PENDING'), []);
  });

  test('shows no transaction for a held transfer that came to nothing', async () => {
    const before = await transactions(pebble, joint);
    const held = await hold('held-2', joint, checking, 700n, 'fern.joint');
    assert.equal((await transactions(pebble, joint)).length, before.length + 1);
    later();
    await held.release();
    assert.deepEqual(await transactions(pebble, joint), before);
  });

  test('pages from pending to posted transactions', async () => {
    const holds = [];
    for (let i = 0; i < 3; i++) holds.push(await hold(`held-page-${i}`, joint, checking, 100n, 'fern.joint'));
    const all = await transactions(pebble, joint);
    assert.deepEqual(
      all.slice(0, 4).map((one: { transferId: string }) => one.transferId),
      ['held-page-2', 'held-page-1', 'held-page-0', 'held-1'],
    );
    for (const limit of [1, 2, 3, 4]) {
      assert.deepEqual((await walk(pebble, joint, `limit=${limit}`)).flat(), all);
    }
    for (const held of holds) await held.release();
  });

  test('bounds pages of an account with only holds for a long time, and finds the transactions behind them', async () => {
    const before = await transactions(member, 'a-1001-savings', 'status=POSTED&limit=200');
    // One entry more than a page reads, inserted as rows, because the service would take long.
    await service.db.superuser(
      `begin; set local session_replication_role = replica;
       insert into entries (institution_id, account_key, seq, posting_key, kind, amount, posted_after, debits_pending_after,
                            credits_pending_after, recorded_at)
       select b.institution_id, b.account_key, b.seq + i, 900000000 + i, case i % 2 when 1 then 'HOLD' else 'RELEASE' end,
              0, b.posted, i % 2, 0, b.last_at
       from balances b join institutions using (institution_id), generate_series(1, 1002) i
       where account_id = 'a-1001-savings' and code = 'lakeside';
       update balances b set seq = seq + 1002 from institutions i
       where i.institution_id = b.institution_id and i.code = 'lakeside' and account_id = 'a-1001-savings';
       commit`,
    );
    const pages = await walk(member, 'a-1001-savings', 'status=POSTED');
    assert.deepEqual(pages, [[], before]);
    assert.deepEqual((await walk(member, 'a-1001-savings', 'status=POSTED&limit=1')).flat(), before);
  });
});

describe('visibility of transactions', () => {
  test('shows the payee the money and not the transfer', async () => {
    later();
    await pay(pebble, 'tx-payee', joint, checking, 3);
    const [mine] = await transactions(member, checking);
    assert.equal(mine.amount.amount, 3);
    assert.ok(!('transferId' in mine));
    const [theirs] = await transactions(fern, joint);
    assert.equal(theirs.transferId, 'tx-payee', 'a holder of the source sees the transfer');
    const [institutions] = await transactions(app, checking);
    assert.equal(institutions.transferId, 'tx-payee');
  });

  test('returns the same 404 for a missing account, another member’s, the institution’s own and another institution’s', async () => {
    const harbor = await clientOf(service, ['harbor-app', 'harbor-app-secret']);
    const missing = await list(app, 'no-such-account');
    assert.equal(missing.status, 404);
    for (const answer of [
      await list(fern, 'a-1002-savings'),
      await list(pebble, checking),
      await list(app, 'internal:funding:USD'),
      await list(app, '%00'),
      await list(harbor, 'a-1001-ira'),
      await fern.get(`${paths.accounts}/a-1002-savings/balances`),
      await app.get(`${paths.accounts}/internal:funding:USD/balances`),
    ]) {
      assert.equal(answer.status, 404);
      assert.deepEqual({ ...answer.body, instance: '' }, { ...missing.body, instance: '' });
    }
  });
});

describe('periods and pages', () => {
  test('a period contains exactly the transactions within it, wherever it starts and ends', async () => {
    for (let i = 0; i < 20; i++) {
      later(i % 3 === 0 ? 0 : 1_000);
      await pay(member, `tx-period-${i}`, checking, 'a-1001-savings', 0.01);
    }
    const all = await transactions(member, checking, 'status=POSTED&limit=200');
    const times = [...new Set<string>(all.map((one: { transactionDate: string }) => one.transactionDate))];
    assert.ok(times.length > 12);
    const ends = times.filter((_, place) => place % 4 === 0 || place > times.length - 3);
    for (const from of ends) {
      for (const to of ends.filter((time) => time >= from)) {
        const query = new URLSearchParams({ status: 'POSTED', limit: '200', from, to });
        const within = all.filter(
          (one: { transactionDate: string }) => one.transactionDate >= from && one.transactionDate <= to,
        );
        assert.deepEqual(await transactions(member, checking, query.toString()), within);
      }
    }
    const [first, last] = [times.at(-1), times[0]] as [string, string];
    const query = `status=POSTED&limit=3&from=${first}&to=${last}`;
    assert.deepEqual((await walk(member, checking, query)).flat(), all);
    assert.deepEqual(await transactions(member, checking, 'from=2030-01-01'), []);
    assert.deepEqual(await transactions(member, checking, 'to=2020-01-01'), []);
  });

  test('returns 400 for malformed periods and pages', async () => {
    const answer = await list(member, checking, 'limit=1');
    const position = /after=([\w-]+)/.exec(answer.headers.get('link') ?? '')?.[1];
    assert.ok(position);
    for (const [account, query, pointer] of [
      [checking, 'status=DONE', 'status'],
      [checking, 'limit=0', 'limit'],
      [checking, 'from=soon', 'from'],
      [checking, 'from=2026-02-02&to=2026-02-01', 'to'],
      [checking, `status=POSTED&after=${position}`, 'after'],
      ['a-1001-savings', `after=${position}`, 'after'],
    ] as const) {
      const refused = await list(member, account, query);
      assert.equal(refused.status, 400, query);
      assert.equal(refused.body.errors[0].pointer, pointer);
    }
  });
});

describe('balances as of a time', () => {
  const balances = (caller: DemoCaller, account: string, query = '') =>
    caller.get(`${paths.accounts}/${account}/balances?${query}`);

  test('balances as of a time are those that the account showed then', async () => {
    const shown: { at: string; balance: object }[] = [];
    const remember = async () => {
      shown.push({
        at: now.toISOString(),
        balance: (await pebble.get(`${paths.accounts}/${joint}`)).body.balance,
      });
      later();
    };
    await remember();
    const held = await hold('held-as-of', joint, checking, 250n, 'pebble.primary');
    await remember();
    await pay(pebble, 'tx-as-of', joint, checking, 1.5);
    await remember();
    await held.post();
    await remember();
    for (const { at, balance } of shown) {
      const answer = await balances(pebble, joint, `asOf=${at}`);
      assert.deepEqual(answer.body, { accountId: joint, asOf: at, balance });
      const still = new Date(Date.parse(at) + 59_999).toISOString();
      assert.deepEqual((await balances(pebble, joint, `asOf=${still}`)).body.balance, balance);
    }
    assert.equal(new Set(shown.map(({ balance }) => JSON.stringify(balance))).size, 4);
    const { body } = await balances(pebble, joint);
    assert.deepEqual(body, { accountId: joint, asOf: now.toISOString(), balance: shown.at(-1)?.balance });
  });

  test('a debt’s balance as of a time includes interest and fees', async () => {
    const [newest] = await transactions(member, loan);
    const { body } = await balances(member, loan);
    assert.deepEqual(body.balance.currentBalance, newest.ledgerBalance);
    assert.equal(body.balance.availableBalance.amount, 0);
  });

  test('returns 400 for a time before the first entry, in the future, or malformed', async () => {
    for (const asOf of ['2026-03-01T00:00:00Z', '2999-01-01T00:00:00Z', '2026-03-02', 'now', '']) {
      const answer = await balances(member, checking, `asOf=${asOf}`);
      assert.equal(answer.status, 400, asOf);
      assert.deepEqual(answer.body.errors[0].pointer, 'asOf');
    }
  });

  test('an account without movement has zero since its opening', async () => {
    const [empty] = await service.db.superuser<{ account_id: string; last_at: Date }>(
      `select b.account_id, b.last_at from balances b join accounts a using (institution_id, account_key)
       join institutions i using (institution_id)
       where i.code = 'lakeside' and b.seq = 0 and a.category = 'DEPOSIT' limit 1`,
    );
    assert.ok(empty, 'the demo has an account of zero');
    const at = empty.last_at.toISOString();
    const { body } = await balances(app, empty.account_id, `asOf=${at}`);
    assert.equal(body.balance.currentBalance.amount, 0);
    const before = new Date(empty.last_at.getTime() - 1).toISOString();
    assert.equal((await balances(app, empty.account_id, `asOf=${before}`)).status, 400);
  });
});

test('each side of a transfer sees the memo, and the other side’s name as far as it may', async () => {
  later();
  const paid = {
    id: 'tx-between',
    fromAccountId: checking,
    toAccountId: joint,
    amount: 3,
    memo: 'Two tickets',
  };
  assert.equal((await member.post(paths.transfers, paid)).status, 201);
  const [out] = await transactions(member, checking);
  assert.equal(out.memo, 'Two tickets');
  // The payer named the account, and sees enough of its holder's name to notice a mistake.
  assert.deepEqual(out.counterparty, { name: 'Pebble S.', accountId: joint });
  for (const holder of [pebble, fern]) {
    const [into] = await transactions(holder, joint);
    assert.equal(into.memo, 'Two tickets');
    assert.equal(into.transferId, undefined);
    assert.deepEqual(into.counterparty, { name: 'Willow T.' });
  }
  // A client sees both accounts, and a member both of their own.
  const [seen] = await transactions(app, joint);
  assert.deepEqual(seen.counterparty, { name: 'Willow Testerman', accountId: checking });
  later();
  await pay(member, 'tx-own', checking, 'a-1001-savings', 4);
  const [own] = await transactions(member, 'a-1001-savings');
  assert.deepEqual(own.counterparty, { name: 'Willow Testerman', accountId: checking });
  assert.equal('memo' in own, false);
});

test('a transaction without a transfer has no counterparty', async () => {
  const all = await transactions(app, checking);
  const openings = all.filter((one: { type: string }) => one.type === 'OPENING_BALANCE');
  assert.equal(openings.length, 1);
  assert.equal('counterparty' in openings[0], false);
});
