import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Client } from '../../support/client.ts';
import { type Answer, clientOf, type DemoCaller, memberOf, paths } from '../../support/demo.ts';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
let app: DemoCaller;
let harbor: DemoCaller;
let pebble: DemoCaller;
let fern: DemoCaller;
let cedar: DemoCaller;

before(async () => {
  service = await startTestService();
  [app, harbor, pebble, fern, cedar] = await Promise.all([
    clientOf(service),
    clientOf(service, ['harbor-app', 'harbor-app-secret']),
    memberOf(service, 'pebble.primary', 'pebble-blue-lantern-1'),
    memberOf(service, 'fern.joint', 'fern-green-lantern-2'),
    memberOf(service, 'cedar.owner', 'cedar-red-lantern-3'),
  ]);
  await plantAll();
});
after(() => service.close());

const joint = 'a-1002-checking';
const savings = 'a-1002-savings';
const shop = 'a-1003-checking';
const types = ['STANDARD', 'CROSS_MEMBER', 'IRA_CONTRIBUTION', 'LOAN_PAYMENT', 'INTRA_FI'];
const statuses = ['PENDING', 'COMPLETED', 'FAILED'];

interface Planted {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly by: string | null;
  readonly at: string;
  readonly status?: string;
  readonly type?: string | null;
}

/** Inserts rows without triggers, so that one transfer of each type and status exists, at chosen times. */
async function plant(rows: readonly Planted[], institution = 'lakeside'): Promise<void> {
  await service.db.superuser(
    `insert into transfers (institution_id, transfer_key, transfer_id, transfer_type, from_account_id, to_account_id,
                            from_key, to_key, amount, currency, status, failure_code, failure_detail, client_id,
                            user_key, created_at, settled_at)
     select i.institution_id, nextval('posting_keys'), r.id, r.type, r."from", r."to", f.account_key, t.account_key,
            1000, 'USD', r.status, case r.status when 'FAILED' then 'insufficient_funds' end,
            case r.status when 'FAILED' then 'Less available.' end, 'demo-app', u.user_key, r.at,
            case when r.status <> 'PENDING' then r.at end
     from (select set_config('session_replication_role', 'replica', true) offset 0) past_triggers,
          jsonb_to_recordset($1) r (id text, "from" text, "to" text, by text, at timestamptz, status text, type text)
     join institutions i on i.code = $2
     left join accounts f on f.institution_id = i.institution_id and f.account_id = r."from"
     left join accounts t on t.institution_id = i.institution_id and t.account_id = r."to"
     left join users u on u.institution_id = i.institution_id and u.username = r.by`,
    [JSON.stringify(rows.map((row) => ({ status: 'COMPLETED', type: 'INTRA_FI', ...row }))), institution],
  );
}

async function plantAll(): Promise<void> {
  const pays = { from: joint, to: shop, by: 'pebble.primary' };
  await plant([
    // One of each status and type, all at one instant: only their keys order them.
    ...statuses.flatMap((status) =>
      types.map((type) => ({ ...pays, id: `${status}-${type}`, at: '2026-03-02T12:00:00Z', status, type })),
    ),
    {
      ...pays,
      id: 'untyped',
      at: '2026-03-02T12:00:00Z',
      status: 'FAILED',
      type: null,
      to: 'no-such-account',
    },
    { ...pays, id: 'by-fern', by: 'fern.joint', at: '2026-03-03T12:00:00Z' },
    { ...pays, id: 'fern-fails', by: 'fern.joint', at: '2026-03-03T13:00:00Z', status: 'FAILED' },
    { ...pays, id: 'by-client', by: null, at: '2026-03-03T14:00:00Z' },
    { ...pays, id: 'from-savings', from: savings, to: joint, at: '2026-03-04T04:59:59.999Z' },
    { ...pays, id: 'to-itself', to: joint, at: '2026-03-04T05:00:00Z', status: 'FAILED' },
    { id: 'paid-to', from: shop, to: joint, by: 'cedar.owner', at: '2026-03-05T12:00:00Z' },
    { id: 'elsewhere', from: shop, to: 'a-1001-checking', by: 'cedar.owner', at: '2026-03-06T12:00:00Z' },
  ]);
  await plant([{ ...pays, id: 'harbors', at: '2026-03-05T12:00:00Z' }], 'harbor');
}

const list = (caller: DemoCaller, query = '') => caller.get(`${paths.transfers}?${query}`);
const idsOf = (answer: Answer): string[] => answer.body.map((transfer: { id: string }) => transfer.id);
async function ids(caller: DemoCaller, query = 'limit=200'): Promise<string[]> {
  const answer = await list(caller, query);
  assert.equal(answer.status, 200, answer.text);
  return idsOf(answer);
}

function nextOf(answer: Answer): string | undefined {
  const link = answer.headers.get('link');
  if (link === null) return undefined;
  const [, address = ''] = /^<(http:\/\/sharedraft\.test\/.*)>; rel="next"$/.exec(link) ?? [];
  assert.ok(address, link);
  return address.slice('http://sharedraft.test'.length);
}

/** Page by page, only through the links. */
async function walk(caller: DemoCaller, query: string): Promise<string[][]> {
  const pages: string[][] = [];
  for (let path: string | undefined = `${paths.transfers}?${query}`; path !== undefined; ) {
    const answer = await caller.get(path);
    assert.equal(answer.status, 200, answer.text);
    pages.push(idsOf(answer));
    path = nextOf(answer);
    assert.ok(pages.length < 100);
  }
  return pages;
}

describe('visibility of transfers', () => {
  const byPebble = [
    ...statuses.flatMap((status) => types.map((type) => `${status}-${type}`)),
    ...['untyped', 'from-savings', 'to-itself'],
  ];

  test('lists to a member their own orders, and transfers that leave their accounts unless they failed', async () => {
    assert.deepEqual((await ids(pebble)).toSorted(), [...byPebble, 'by-fern', 'by-client'].toSorted());
    assert.deepEqual(
      (await ids(fern)).toSorted(),
      [
        ...byPebble.filter((id) => !/^FAILED|untyped|from-savings|to-itself/.test(id)),
        ...['by-fern', 'fern-fails', 'by-client'],
      ].toSorted(),
    );
  });

  test('lists no transfer to its payee', async () => {
    assert.deepEqual(await ids(cedar), ['elsewhere', 'paid-to']);
  });

  test('lists to a client all transfers of its institution, and none of another', async () => {
    const all = await ids(app);
    assert.deepEqual(
      all.toSorted(),
      [...byPebble, 'by-fern', 'fern-fails', 'by-client', 'paid-to', 'elsewhere'].toSorted(),
    );
    assert.deepEqual(await ids(harbor), ['harbors']);
  });

  test('lists each transfer as reading it returns it', async () => {
    for (const caller of [pebble, fern, app]) {
      const { body } = await list(caller, 'limit=200');
      await service.db.superuser(
        `insert into idempotency_keys select institution_id, transfer_id, transfer_key from transfers on conflict do nothing`,
      );
      for (const transfer of body) {
        assert.deepEqual((await caller.get(`${paths.transfers}/${transfer.id}`)).body, transfer);
      }
    }
  });
});

describe('order and pages', () => {
  test('lists transfers newest first', async () => {
    const { body } = await list(app, 'limit=200');
    const times = body.map((transfer: { createdAt: string }) => transfer.createdAt);
    assert.deepEqual(times, times.toSorted().reverse());
  });

  test('following the links gives each transfer once, in the same order, for any page size', async () => {
    for (const caller of [app, pebble, fern, cedar]) {
      const whole = await ids(caller);
      for (const limit of [1, 2, 3, 7]) {
        const pages = await walk(caller, `limit=${limit}`);
        assert.deepEqual(pages.flat(), whole);
        for (const page of pages.slice(0, -1)) assert.equal(page.length, limit);
      }
    }
  });

  test('lists 50 transfers a page by default, and gives a full last page no link', async () => {
    const at = (i: number) => new Date(Date.UTC(2025, 0, 1, 0, i)).toISOString();
    await plant(
      Array.from({ length: 50 }, (_, i) => ({ id: `old-${i}`, from: shop, to: joint, by: null, at: at(i) })),
      'harbor',
    );
    assert.deepEqual(
      (await walk(harbor, '')).map((page) => page.length),
      [50, 1],
    );
    assert.deepEqual(
      (await walk(harbor, 'to=2025-12-31')).map((page) => page.length),
      [50],
    );
  });

  test('a link keeps the filters and the limit', async () => {
    const answer = await list(app, `accountId=${joint}&status=COMPLETED&from=2026-03-01&limit=2`);
    const next = new URL(`http://sharedraft.test${nextOf(answer)}`);
    const { after: position, ...kept } = Object.fromEntries(next.searchParams);
    assert.deepEqual(kept, { accountId: joint, status: 'COMPLETED', from: '2026-03-01', limit: '2' });
    assert.match(position ?? '', /^[\w-]+$/);
    assert.equal(next.pathname, paths.transfers);
  });

  test('an order during a walk neither repeats nor hides older transfers', async () => {
    const whole = await ids(cedar);
    const first = await list(cedar, 'limit=1');
    await plant([{ id: 'meanwhile', from: shop, to: joint, by: 'cedar.owner', at: '2026-03-07T12:00:00Z' }]);
    const second = await cedar.get(nextOf(first) as string);
    assert.deepEqual([...idsOf(first), ...idsOf(second)], whole);
    assert.deepEqual(await ids(cedar), ['meanwhile', ...whole]);
  });
});

describe('filters', () => {
  test('status and type, alone and together, select exactly the matching transfers', async () => {
    for (const caller of [app, pebble, fern]) {
      const { body: whole } = await list(caller, 'limit=200');
      for (const status of ['', ...statuses]) {
        for (const transferType of ['', ...types]) {
          const query = new URLSearchParams({
            limit: '200',
            ...(status && { status }),
            ...(transferType && { transferType }),
          });
          const wanted = whole.filter(
            (one: { status: string; transferType?: string }) =>
              (status === '' || one.status === status) &&
              (transferType === '' || one.transferType === transferType),
          );
          assert.deepEqual((await list(caller, query.toString())).body, wanted, query.toString());
        }
      }
    }
  });

  test('an account filter selects its outgoing and incoming transfers, each once, among those that the caller may see', async () => {
    for (const caller of [app, pebble]) {
      const whole = (await list(caller, 'limit=200')).body;
      const wanted = whole
        .filter((one: { fromAccountId: string; toAccountId: string }) =>
          [one.fromAccountId, one.toAccountId].includes(joint),
        )
        .map((one: { id: string }) => one.id);
      assert.deepEqual(await ids(caller, `accountId=${joint}&limit=200`), wanted);
      assert.deepEqual((await walk(caller, `accountId=${joint}&limit=2`)).flat(), wanted);
      assert.ok(wanted.includes('from-savings') && wanted.includes('to-itself'));
    }
    assert.ok(!(await ids(pebble, `accountId=${joint}&limit=200`)).includes('fern-fails'));
    assert.deepEqual(await ids(pebble, `accountId=${savings}`), ['from-savings']);
  });

  test('filtering by a missing account and by another member’s gives an empty list', async () => {
    for (const account of ['no-such-account', shop, 'internal:funding:USD', '%20', 'a%00b']) {
      const answer = await list(pebble, `accountId=${account}`);
      if (account !== 'a%00b') assert.deepEqual(answer.body, []);
      else assert.equal(answer.status, 400);
    }
    assert.deepEqual(await ids(fern, `accountId=${savings}`), []);
    assert.deepEqual(await ids(app, 'accountId=internal:funding:USD'), []);
  });

  test('days are the institution’s and date-times are instants, both with both ends included', async () => {
    // Lakeside's midnight is 05:00 UTC in winter.
    const onTheThird = await ids(app, 'from=2026-03-03&to=2026-03-03');
    assert.deepEqual(onTheThird, ['from-savings', 'by-client', 'fern-fails', 'by-fern']);
    assert.deepEqual(await ids(app, 'from=2026-03-03T05:00:00Z&to=2026-03-04T05:00:00Z'), [
      'to-itself',
      ...onTheThird,
    ]);
    const exact = '2026-03-03T12:00:00.000Z';
    assert.deepEqual(await ids(app, `from=${exact}&to=${exact}`), ['by-fern']);
    assert.deepEqual(await ids(app, 'from=2026-03-03T12:00:00.001Z&to=2026-03-03T12:59:59.999Z'), []);
    assert.deepEqual(await ids(app, 'from=2026-03-03T07:00:00-05:00&to=2026-03-03T13:00:00%2B01:00'), [
      'by-fern',
    ]);
    assert.deepEqual(
      await ids(app, 'from=2026-03-03T07:00:00-05:00&to=2026-03-03T13:00:00+01:00'),
      ['by-fern'],
      'a plus sign without an escape',
    );
    assert.deepEqual((await walk(app, 'from=2026-03-02&to=2026-03-03&limit=3')).flat(), [
      ...onTheThird,
      ...(await ids(app, 'from=2026-03-02&to=2026-03-02&limit=200')),
    ]);
  });
});

describe('a page of an account that others pay into', () => {
  test('a page of an account that others pay into is bounded, may be empty with a next one, and the walk finds all', async () => {
    const busy = 'a-1001-savings';
    const owner = await memberOf(service, 'demo.member', 'demo-member-password');
    await plant([
      { id: 'own-old', from: 'a-1001-checking', to: busy, by: 'demo.member', at: '2026-01-01T00:00:00Z' },
      ...Array.from({ length: 1_001 }, (_, i) => ({
        id: `stranger-${i}`,
        from: shop,
        to: busy,
        by: 'cedar.owner',
        at: new Date(Date.UTC(2026, 0, 2, 0, 0, i)).toISOString(),
      })),
      { id: 'own-new', from: 'a-1001-checking', to: busy, by: 'demo.member', at: '2026-01-03T12:00:00Z' },
    ]);
    assert.deepEqual(await walk(owner, `accountId=${busy}`), [['own-new'], ['own-old']]);
    assert.deepEqual(await walk(owner, `accountId=${busy}&to=2026-01-02`), [[], ['own-old']]);
    assert.deepEqual(await walk(owner, `accountId=${busy}&limit=1`), [['own-new'], ['own-old']]);
  });
});

describe('list transfers: 400', () => {
  const pointersOf = (answer: Answer) =>
    answer.body.errors?.map((error: { pointer: string }) => error.pointer);

  for (const [query, pointer] of [
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['limit=', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=99999999999999999999', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['status=DONE', 'status'],
    ['transferType=WIRE', 'transferType'],
    ['accountId=', 'accountId'],
    ['accountid=a', 'accountid'],
    ['from=yesterday', 'from'],
    ['from=2026-02-30', 'from'],
    ['from=2026-02-30T00:00:00Z', 'from'],
    ['from=2026-01-01T00:00:00', 'from'],
    ['from=2026-01-01T24:00:00Z', 'from'],
    ['from=0000-01-01', 'from'],
    ['to=9999-12-31', 'to'],
    ['from=2026-03-02&to=2026-03-01', 'to'],
    ['after=', 'after'],
    ['after=not-a-position', 'after'],
    ['after=%00', 'after'],
  ] as const) {
    test(`returns 400 for a list with ${query}`, async () => {
      const answer = await list(app, query);
      assert.equal(answer.status, 400, answer.text);
      assert.equal(answer.body.code, 'invalid_request');
      assert.deepEqual(pointersOf(answer), [pointer]);
    });
  }

  test('returns 400 for a position of other filters, of another institution, or with a change', async () => {
    const next = new URL(nextOf(await list(app, 'status=COMPLETED&limit=1')) ?? '', service.address);
    const position = next.searchParams.get('after') ?? '';
    assert.equal(
      (await list(app, `status=COMPLETED&limit=7&after=${position}`)).status,
      200,
      'limit may differ',
    );
    assert.equal((await list(pebble, `status=COMPLETED&after=${position}`)).status, 200);
    const bytes = Buffer.from(position, 'base64url');
    const beyond = Buffer.concat([bytes.subarray(0, 9), Buffer.alloc(16, 0xff)]).toString('base64url');
    for (const [caller, query] of [
      [app, `status=FAILED&after=${position}`],
      [app, `after=${position}`],
      [app, `status=COMPLETED&accountId=${joint}&after=${position}`],
      [harbor, `status=COMPLETED&after=${position}`],
      [app, `status=COMPLETED&after=${position}A`],
      [app, `status=COMPLETED&after=${position.slice(0, -4)}`],
      [app, `status=COMPLETED&after=${beyond}`],
    ] as const) {
      const answer = await list(caller, query);
      assert.equal(answer.status, 400, query);
      assert.deepEqual(pointersOf(answer), ['after']);
    }
  });
});

test('returns 403 for a list of transfers without transfer:read', async () => {
  const token = await new Client(service.address).token({
    grant_type: 'client_credentials',
    client_id: 'demo-app',
    client_secret: 'demo-app-secret',
    scope: 'transfer:write',
  });
  const answer = await new Client(service.address).get(paths.transfers, { token });
  assert.equal(answer.body.code, 'insufficient_scope');
});
