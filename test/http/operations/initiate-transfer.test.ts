import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Answer, clientOf, type DemoCaller, memberOf, paths, send } from '../../support/demo.ts';
import { eventually } from '../../support/desk.ts';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
let app: DemoCaller;
let member: DemoCaller;
before(async () => {
  service = await startTestService();
  app = await clientOf(service);
  member = await memberOf(service, 'demo.member', 'demo-member-password');
});
after(() => service.close());

const initiate = (caller: DemoCaller, order: object, headers?: Record<string, string>): Promise<Answer> =>
  caller.post(paths.transfers, order, headers);
/** The amount as text, because JavaScript's numbers cannot express every amount. */
const initiateText = (caller: DemoCaller, body: string): Promise<Answer> =>
  send(service.address, 'POST', paths.transfers, {
    body,
    headers: { authorization: `Bearer ${caller.token}`, 'content-type': 'application/json' },
  });
const posted = async (accountId: string): Promise<bigint> => {
  const [row] = await service.db.superuser<{ posted: bigint }>(
    `select posted from balances join institutions using (institution_id) where code = 'lakeside' and account_id = $1`,
    [accountId],
  );
  return row?.posted ?? assert.fail(`no account ${accountId}`);
};
const home = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings' };

describe('initiate transfer: 201', () => {
  test('moves the money, returns the Location of the transfer, and fills in omitted fields', async () => {
    const before = [await posted('a-1001-checking'), await posted('a-1001-savings')] as const;
    const answer = await initiate(member, { ...home, amount: 105.25 });
    assert.equal(answer.status, 201);
    const { id, createdAt, ...rest } = answer.body;
    assert.deepEqual(rest, {
      transferType: 'STANDARD',
      ...home,
      amount: 105.25,
      currencyCode: 'USD',
      status: 'COMPLETED',
    });
    assert.match(id, /^[0-9a-f-]{14}7/);
    assert.ok(Math.abs(Date.parse(createdAt) - Date.now()) < 60_000);
    assert.equal((await member.get(answer.headers.get('location') ?? '')).text, answer.text);
    assert.deepEqual(
      [await posted('a-1001-checking'), await posted('a-1001-savings')],
      [before[0] - 10_525n, before[1] + 10_525n],
    );
  });

  test('orders every type that the accounts allow, stated or derived', async () => {
    const juniper = await memberOf(service, 'juniper.two', 'juniper-two-lantern-5');
    const cases: [DemoCaller, string, string, string][] = [
      [member, 'a-1001-checking', 'a-1001-savings', 'STANDARD'],
      [member, 'a-1001-checking', 'a-1001-ira', 'IRA_CONTRIBUTION'],
      [member, 'a-1001-checking', 'a-1001-carloan', 'LOAN_PAYMENT'],
      [member, 'a-1001-checking', 'a-1002-checking', 'INTRA_FI'],
      [juniper, 'a-1004-checking', 'a-1005-checking', 'CROSS_MEMBER'],
    ];
    for (const [caller, fromAccountId, toAccountId, transferType] of cases) {
      const order = { fromAccountId, toAccountId, amount: 1.5 };
      const derived = await initiate(caller, order);
      assert.equal(derived.status, 201, derived.text);
      assert.equal(derived.body.transferType, transferType);
      assert.equal((await initiate(caller, { ...order, transferType })).status, 201);
    }
  });

  test('moves single cents, and amounts of a currency without decimals', async () => {
    const before = await posted('a-1001-savings');
    const cent = await initiateText(member, JSON.stringify({ ...home, amount: 0.01 }));
    assert.match(cent.text, /"amount":0\.01,/);
    assert.equal(await posted('a-1001-savings'), before + 1n);
    await service.db.superuser(
      `insert into accounts (institution_id, account_id, customer_key, account_number, di_account_type, category, description, currency)
       select institution_id, 'a-yen-savings', customer_key, 'Y2', 'SAVINGS', 'DEPOSIT', 'Yen Savings', 'JPY'
       from accounts where account_id = 'a-1015-checking-jpy'`,
    );
    await service.db.superuser(
      `insert into balances (institution_id, account_key, account_id, currency, posted, debits_pending, credits_pending, seq, last_at)
       select institution_id, account_key, account_id, 'JPY', 0, 0, 0, 0, now() from accounts where account_id = 'a-yen-savings'`,
    );
    const yen = { fromAccountId: 'a-1015-checking-jpy', toAccountId: 'a-yen-savings' };
    const whole = await initiateText(app, JSON.stringify({ ...yen, amount: 105 }));
    assert.match(whole.text, /"amount":105,"currencyCode":"JPY"/);
    const parts = await initiateText(app, JSON.stringify({ ...yen, amount: 105.5 }));
    assert.equal(parts.body.errors[0].pointer, '/amount');
  });
});

describe('initiate transfer: 200', () => {
  test('moves money once for the same order in another spelling', async () => {
    const order = { id: 'once-only-1', ...home, amount: 20 };
    const first = await initiate(member, order);
    assert.equal(first.status, 201);
    const after = await posted('a-1001-savings');
    for (const body of [
      JSON.stringify(order),
      '{"id":"once-only-1","fromAccountId":"a-1001-checking","toAccountId":"a-1001-savings","amount":20.00,"currencyCode":"USD","transferType":"STANDARD"}',
      JSON.stringify({ ...order, status: 'PENDING', createdAt: '2020-01-01T00:00:00Z' }),
    ]) {
      const again = await initiateText(member, body);
      assert.equal(again.status, 200, body);
      assert.equal(again.headers.get('idempotent-replayed'), 'true');
      assert.equal(again.text, first.text);
    }
    assert.equal(await posted('a-1001-savings'), after);
  });

  test('repeats an order by its Idempotency-Key, and makes another order for the same key of another caller', async () => {
    const key = { 'idempotency-key': '"8e03978e-40d5-43dd-bc93-6894a57f9324"' };
    const order = { ...home, amount: 2 };
    const first = await initiate(member, order, key);
    assert.equal(first.status, 201);
    const again = await initiate(member, order, key);
    assert.equal(again.status, 200);
    assert.equal(again.text, first.text);
    const other = await initiate(app, order, key);
    assert.equal(other.status, 201);
    assert.notEqual(other.body.id, first.body.id);
  });
});

test('returns 200 for a repeated amount spelled 1.500, 1.5e0 or "1.50" instead of 1.5', async () => {
  const text = (amount: string) =>
    `{"id":"one-and-a-half","fromAccountId":"a-1001-checking","toAccountId":"a-1001-savings","amount":${amount}}`;
  const first = await initiateText(member, text('1.500'));
  assert.equal(first.status, 201, first.text);
  assert.match(first.text, /"amount":1\.50,/);
  for (const amount of ['1.5', '1.50', '1.5e0', '15E-1', '"1.50"', '"1.500"']) {
    const again = await initiateText(member, text(amount));
    assert.deepEqual([again.status, again.text], [200, first.text], amount);
  }
});

test('uses up no id with a 400', async () => {
  const id = 'not-used-up';
  for (const body of [
    `{"id":"${id}","fromAccountId":"a-1001-checking","toAccountId":"a-1001-savings","amount":1.005}`,
    `{"id":"${id}","fromAccountId":"a-1001-checking","toAccountId":"a-1001-savings","amount":1.0001}`,
    `{"id":"${id}","fromAccountId":"a-1001-checking","toAccountId":"a-1001-savings","amount":0}`,
    `{"id":"${id}","fromAccountId":"a-1001-checking","toAccountId":"a-1001-savings","amount":"1 USD"}`,
    `{"id":"${id}","fromAccountId":"a-1001-checking","toAccountId":"a-1001-savings","amount":1,"currencyCode":"XXQ"}`,
    `{"id":"${id}","fromAccountId":"a-1001-checking","toAccountId":"a-1001-savings","amount":1,"transferType":"WIRE"}`,
    `{"id":"${id}","fromAccountId":"","toAccountId":"a-1001-savings","amount":1}`,
    `{"id":"${id}","fromAccountId":"a-1001-checking","toAccountId":"a\\u0000b","amount":1}`,
  ]) {
    const answer = await initiateText(member, body);
    assert.equal(answer.status, 400, body);
  }
  assert.equal((await initiate(member, { id, ...home, amount: 1 })).status, 201);
});

test('returns 403 for an order by a token without the scope', async () => {
  const reader = await clientOf(service, ['demo-reader', 'demo-reader-secret']);
  const answer = await initiate(reader, { ...home, amount: 1 });
  assert.equal(answer.body.code, 'insufficient_scope');
  assert.match(answer.headers.get('www-authenticate') ?? '', /scope="transfer:write"/);
});

describe('initiate transfer: 409', () => {
  test('returns 409 for another order under a used id, with the different fields to a caller who may see the first', async () => {
    const order = { id: 'taken-1', ...home, amount: 3 };
    assert.equal((await initiate(member, order)).status, 201);
    const other = { ...order, toAccountId: 'a-1001-certificate', amount: 4 };
    const conflict = await initiate(member, other);
    assert.equal(conflict.status, 409);
    assert.equal(conflict.body.code, 'transfer_id_reused');
    assert.deepEqual(
      conflict.body.errors.map((part: { pointer: string }) => part.pointer),
      ['/toAccountId', '/amount'],
    );
  });

  test('returns a bare 409 for another user’s id, and treats it like a free id if the source is not the caller’s', async () => {
    assert.equal((await initiate(member, { id: 'taken-2', ...home, amount: 3 })).status, 201);
    const pebble = await memberOf(service, 'pebble.primary', 'pebble-blue-lantern-1');
    const own = { fromAccountId: 'a-1002-checking', toAccountId: 'a-1002-savings', amount: 1 };
    const answer = await initiate(pebble, { id: 'taken-2', ...own });
    assert.equal(answer.status, 409);
    assert.equal(answer.body.errors, undefined);
    assert.equal(answer.body.transfer, undefined);
    for (const id of ['taken-2', 'never-taken']) {
      const unseen = await initiate(pebble, { id, ...home, amount: 3 });
      assert.equal(unseen.status, 422, id);
      assert.equal(unseen.body.code, 'account_not_found', id);
    }
  });

  test('accepts an id that another institution has used', async () => {
    const harbor = await clientOf(service, ['harbor-app', 'harbor-app-secret']);
    assert.equal((await initiate(member, { id: 'taken-3', ...home, amount: 3 })).status, 201);
    assert.equal((await initiate(harbor, { id: 'taken-3', ...home, amount: 5 })).status, 201);
  });
});

describe('memo', () => {
  const memo = 'Rent for March – “two rooms” \\ 5 % off, Zoë 🏠';

  test('stores a memo and shows it wherever the transfer is shown, and omits a missing one', async () => {
    const answer = await initiate(member, { id: 'memo-1', ...home, amount: 1, memo });
    assert.equal(answer.status, 201, answer.text);
    assert.equal(answer.body.memo, memo);
    assert.equal((await member.get(`${paths.transfers}/memo-1`)).body.memo, memo);
    const [newest] = (await member.get(`${paths.transfers}?accountId=a-1001-checking`)).body;
    assert.deepEqual([newest.id, newest.memo], ['memo-1', memo]);
    type Event = { transfer?: { id: string; memo: string } };
    // The feed holds an event back while an older transaction runs.
    const event = await eventually(
      async () => {
        const events: Event[] = (await app.get('/digitalbanking/db-events/v1/events?limit=200')).body;
        return events.find(({ transfer }) => transfer?.id === 'memo-1');
      },
      (found) => found !== undefined,
    );
    assert.equal(event?.transfer?.memo, memo);
    for (const without of [{}, { memo: null }]) {
      const { body } = await initiate(member, { ...home, amount: 1, ...without });
      assert.equal('memo' in body, false);
    }
  });

  test('compares the memo of a repeated order', async () => {
    const order = { id: 'memo-2', ...home, amount: 1 };
    assert.equal((await initiate(member, { ...order, memo })).status, 201);
    assert.equal((await initiate(member, { ...order, memo })).headers.get('idempotent-replayed'), 'true');
    assert.equal((await initiate(member, order)).body.memo, memo, 'left out, it does not differ');
    const other = await initiate(member, { ...order, memo: 'Rent' });
    assert.equal(other.status, 409);
    assert.deepEqual(
      other.body.errors.map((one: { pointer: string }) => one.pointer),
      ['/memo'],
    );
  });

  test('accepts 1 to 140 visible characters in a memo, in the code and in the database', async () => {
    const longest = '🏠'.repeat(140);
    assert.equal((await initiate(member, { ...home, amount: 1, memo: longest })).body.memo, longest);
    const before = await posted('a-1001-checking');
    for (const bad of [
      '',
      '   ',
      'x'.repeat(141),
      'two\nlines',
      'tab\t',
      'pay\u202Eeb',
      'a\u200Bb',
      'a\u2066b',
      '\ud800',
      7,
    ]) {
      const refused = await initiate(member, { ...home, amount: 1, memo: bad });
      assert.equal(refused.status, 400, JSON.stringify(bad));
      assert.equal(refused.body.errors[0].pointer, '/memo', JSON.stringify(bad));
    }
    assert.equal(await posted('a-1001-checking'), before);
    for (const bad of ['', ' ', 'x'.repeat(141), 'two\nlines', 'pay\u202Eeb', 'a\u200Bb', 'a\uFEFFb']) {
      await assert.rejects(
        service.db.superuser(
          `insert into transfers (institution_id, transfer_key, transfer_id, transfer_type, from_account_id, to_account_id,
                                  from_key, to_key, amount, currency, status, failure_code, failure_detail, client_id,
                                  created_at, settled_at, memo)
           select institution_id, 9000000, 'memo-forged', transfer_type, from_account_id, to_account_id, from_key, to_key,
                  amount, currency, 'FAILED', 'insufficient_funds', 'x', client_id, created_at, settled_at, $1
           from transfers where transfer_id = 'memo-1'`,
          [bad],
        ),
        { code: '23514' },
        JSON.stringify(bad),
      );
    }
  });
});

describe('initiate transfer: 422', () => {
  test('returns 422 with the first of several reasons, and moves nothing', async () => {
    await service.db.superuser(
      `insert into limit_keys select institution_id, 1, 'CUSTOMER DAY   USD' from institutions where code = 'lakeside'`,
    );
    await service.db.superuser(
      `insert into transfer_limits (institution_id, limit_key, subject, period, currency, max_per_transfer)
       select institution_id, 1, 'CUSTOMER', 'DAY', 'USD', 500000000 from institutions where code = 'lakeside'`,
    );
    const checking = 'a-1001-checking';
    const cases: [string, object][] = [
      ['account_not_found', { fromAccountId: 'nowhere', toAccountId: 'nowhere', amount: 1 }],
      ['account_not_found', { fromAccountId: checking, toAccountId: 'internal:funding:USD', amount: 1 }],
      ['same_account', { fromAccountId: 'a-1009-savings', toAccountId: 'a-1009-savings', amount: 1 }],
      ['account_closed', { fromAccountId: 'a-1001-certificate', toAccountId: 'a-1009-savings', amount: 1 }],
      ['account_closed', { fromAccountId: 'a-1009-savings', toAccountId: checking, amount: 1 }],
      [
        'account_restricted',
        { fromAccountId: 'a-1001-certificate', toAccountId: 'a-1015-savings-eur', amount: 1 },
      ],
      ['account_restricted', { fromAccountId: 'a-1001-carloan', toAccountId: checking, amount: 1 }],
      [
        'currency_mismatch',
        {
          fromAccountId: checking,
          toAccountId: 'a-1015-savings-eur',
          amount: 1,
          transferType: 'LOAN_PAYMENT',
        },
      ],
      ['currency_mismatch', { ...home, amount: 1, currencyCode: 'EUR' }],
      ['transfer_type_mismatch', { ...home, amount: 6_000_000, transferType: 'INTRA_FI' }],
      ['limit_exceeded', { fromAccountId: checking, toAccountId: 'a-1001-carloan', amount: 6_000_000 }],
      ['exceeds_payoff', { fromAccountId: checking, toAccountId: 'a-1001-carloan', amount: 4_000_000 }],
      ['insufficient_funds', { ...home, amount: 4_000_000 }],
    ];
    const before = await posted(checking);
    for (const [code, order] of cases) {
      const answer = await initiate(app, order);
      assert.equal(answer.status, 422, `${code}: ${answer.text}`);
      assert.equal(answer.body.code, code, JSON.stringify(order));
      assert.equal(answer.body.transfer.status, 'FAILED');
      assert.equal(answer.body.transfer.failureCode, code);
    }
    assert.equal(await posted(checking), before);
  });

  test('uses up no id and reveals none for an order whose source the caller may not see', async () => {
    const theirs = { fromAccountId: 'a-1002-checking', toAccountId: 'a-1002-savings', amount: 1 };
    for (const order of [theirs, { ...home, fromAccountId: 'nowhere', amount: 1 }]) {
      const refused = await initiate(member, { id: 'payroll-free', ...order });
      assert.equal(refused.status, 422, refused.text);
      assert.equal(refused.body.code, 'account_not_found');
      assert.equal(refused.body.transfer.id, 'payroll-free');
      assert.equal(refused.headers.get('idempotent-replayed'), null);
    }
    assert.doesNotMatch(
      (await app.get('/digitalbanking/db-events/v1/events?limit=200')).text,
      /payroll-free/,
    );
    assert.equal((await app.get(`${paths.transfers}/payroll-free`)).status, 404);
    assert.equal((await initiate(app, { id: 'payroll-free', ...theirs })).status, 201);
    const bare = await initiate(member, { id: 'payroll-free', ...home, amount: 1 });
    assert.equal(bare.status, 409);
    assert.equal(bare.body.errors, undefined);
    // A dry run compares with visible transfers only, and so reveals nothing of the id.
    const dry = await member.post(`${paths.transfers}/dry-run`, { id: 'payroll-free', ...home, amount: 1 });
    assert.equal(dry.status, 200, dry.text);
    assert.equal(dry.headers.get('idempotent-replayed'), 'false');
    assert.equal(dry.body.transfer.status, 'COMPLETED');
  });

  test('returns 422 with the right transfer type', async () => {
    const answer = await initiate(member, { ...home, amount: 1, transferType: 'LOAN_PAYMENT' });
    assert.match(answer.body.detail, /\bSTANDARD\b/);
  });

  test('keeps a declined id declined word for word, even if the order could succeed by now', async () => {
    const brook = await memberOf(service, 'brook.overdraft', 'brook-river-lantern-9');
    const order = {
      id: 'declined-1',
      fromAccountId: 'a-1007-savings',
      toAccountId: 'a-1007-checking',
      amount: 50,
    };
    const first = await initiate(brook, order);
    assert.equal(first.body.code, 'insufficient_funds');
    await initiate(brook, { fromAccountId: 'a-1007-checking', toAccountId: 'a-1007-savings', amount: 60 });
    const again = await initiate(brook, order);
    assert.equal(again.status, 422);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.deepEqual({ ...again.body, instance: '' }, { ...first.body, instance: '' });
    const anew = await initiate(brook, { ...order, id: 'declined-2' });
    assert.equal(anew.status, 201);
  });

  test('lets a member pay only from accounts whose holder record allows it, and hides the others', async () => {
    const hazel = await memberOf(service, 'hazel.signer', 'hazel-gold-lantern-4');
    const from = (fromAccountId: string) => ({ fromAccountId, toAccountId: 'a-1001-savings', amount: 1 });
    assert.equal((await initiate(hazel, from('a-1003-checking'))).body.code, 'account_restricted');
    assert.equal((await initiate(hazel, from('a-1003-savings'))).body.code, 'account_not_found');
    assert.equal((await initiate(hazel, from('no-such-account'))).body.code, 'account_not_found');
  });
});
