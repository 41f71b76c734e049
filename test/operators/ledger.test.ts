import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readSums } from '../../src/operators/ledger/bounded-read.ts';
import { Problem } from '../../src/shared/problem.ts';
import type { InstitutionId, Queryable } from '../../src/storage/index.ts';
import { type Connector, connectorOf, purchase } from '../support/core.ts';
import { clientOf, type DemoCaller, paths } from '../support/demo.ts';
import { demoAddress, operatorOf, type TestOperator } from '../support/operators.ts';
import { asSuperuser } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** All moves happen within a minute of this clock, and each later step in a later minute. */
let now = Date.parse('2026-11-18T15:00:00Z');
let service: TestService;
let app: DemoCaller;
let core: Connector;
let viewer: TestOperator;

before(async () => {
  service = await startTestService({ environment: demoAddress, clock: () => new Date(now) });
  await signIn();
});
after(() => service.close());

/** Tokens and sessions end within a day. */
async function signIn(): Promise<void> {
  app = await clientOf(service);
  core = await connectorOf(service);
  viewer = await operatorOf(service, 'Demo viewer');
}

interface Class {
  readonly class: string;
  readonly isInternal: boolean;
  readonly accountId: string | null;
  readonly accounts: number;
  readonly currency: string;
  readonly debits: string;
  readonly credits: string;
  readonly balance: string;
}

const nextDay = (day: string) => new Date(Date.parse(day) + 24 * 3_600_000).toISOString().slice(0, 10);
const cents = (amount: string) => BigInt(amount.replace('.', ''));
/** The minute on the clocks of the institution, which is in New York. */
const minuteOf = (at: number) => new Date(at - 5 * 3_600_000).toISOString().slice(0, 16);

async function trial(at?: number): Promise<{ at: string; classes: Class[]; totals: Class[] }> {
  const { status, body } = await viewer.get(
    `/ledger/trial-balance${at === undefined ? '' : `?at=${minuteOf(at)}`}`,
  );
  assert.equal(status, 200, JSON.stringify(body));
  for (const total of body.totals as Class[]) {
    assert.equal(total.debits, total.credits);
    assert.match(total.balance, /^0(\.00)?$/);
  }
  return body;
}

/** Of the classes whose balance is not zero: an internal account appears with its first posting. */
const balancesOf = ({ classes }: { classes: Class[] }) =>
  new Map(
    classes
      .filter(({ currency, balance }) => currency === 'USD' && cents(balance) !== 0n)
      .map((one) => [one.class, cents(one.balance)]),
  );

async function order(id: string, toAccountId: string, amount: number): Promise<void> {
  const answer = await app.post(paths.transfers, {
    id,
    fromAccountId: 'a-1001-checking',
    toAccountId,
    amount,
  });
  assert.equal(answer.body.status, 'COMPLETED', JSON.stringify(answer.body));
}

test('the trial balance of a minute stays as it was after money has moved, and each one sums to zero', async () => {
  const before = await trial();
  now += 120_000;
  const middle = now;
  await order('ledger-1', 'a-1001-savings', 12.34);
  await core.deliver([purchase('ledger-card', { amount: -5.01 })]);
  now += 120_000;
  await order('ledger-2', 'a-1001-savings', 100);
  const { classes } = await trial();
  const last = balancesOf({ classes });
  assert.deepEqual(balancesOf(await trial(middle)), balancesOf(before));
  const between = balancesOf(await trial(middle + 60_000));
  assert.equal((between.get('SAVINGS') ?? 0n) - (balancesOf(before).get('SAVINGS') ?? 0n), 1_234n);
  assert.equal((last.get('SAVINGS') ?? 0n) - (between.get('SAVINGS') ?? 0n), 10_000n);
  assert.equal((last.get('CORE_CARD') ?? 0n) - (balancesOf(before).get('CORE_CARD') ?? 0n), 501n);
});

test('finds the balance of a minute before more entries than the walk back reads', async () => {
  now += 120_000;
  const quiet = balancesOf(await trial());
  const minute = now + 60_000;
  now += 120_000;
  // One account has 70 entries since the minute: a short walk back ends before it.
  const lines = Array.from({ length: 70 }, (_, place) => purchase(`busy-${place}`, { amount: -0.01 }));
  await core.deliver(lines);
  const busy = balancesOf(await trial());
  assert.equal((busy.get('CHECKING') ?? 0n) - (quiet.get('CHECKING') ?? 0n), -70n);
  assert.deepEqual(balancesOf(await trial(minute)), quiet);
});

interface AccountOfClass {
  readonly accountId: string;
  readonly memberNumber: string | null;
  readonly balance: string;
}

/** All pages of the accounts of a class, the first of which begins behind `/ledger/accounts`. */
async function pagesOf(query: string): Promise<AccountOfClass[][]> {
  const pages: AccountOfClass[][] = [];
  for (let next: string | undefined = query; next !== undefined; ) {
    const { status, body, headers } = await viewer.get(`/ledger/accounts${next}`);
    assert.equal(status, 200, JSON.stringify(body));
    pages.push(body);
    next = /ledger\/accounts(\?[^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  }
  return pages;
}

/** The accounts of each class have the figures of the class, at any moment of a trial balance. */
async function assertAddsUp({ at, classes }: { at: string; classes: Class[] }): Promise<void> {
  for (const { class: name, isInternal, accountId, currency, accounts, debits, credits } of classes) {
    const pages = await pagesOf(`?class=${name}&currency=${currency}&before=${at}&limit=2`);
    const found = pages.flat();
    const of = `${name} ${currency} before ${at}`;
    const sumOf = (isCredit: boolean) =>
      found
        .map(({ balance }) => cents(balance))
        .filter((one) => one > 0n === isCredit)
        .reduce((sum, one) => sum + one, 0n);
    assert.deepEqual(
      [found.length, -sumOf(false), sumOf(true)],
      [accounts, cents(debits), cents(credits)],
      of,
    );
    assert.equal(new Set(found.map((one) => one.accountId)).size, accounts, of);
    assert.ok(
      found.every((one) => cents(one.balance) !== 0n && (one.memberNumber === null) === isInternal),
      of,
    );
    assert.equal(accountId === null, !isInternal, of);
    if (isInternal && accounts > 0) assert.equal(found[0]?.accountId, accountId, of);
  }
}

test('the accounts of each class sum to its figure on all their pages, now, in the past and after more has moved', async () => {
  now += 120_000;
  await order('class-1', 'a-1001-savings', 3.21);
  const shown = await trial();
  await assertAddsUp(shown);
  const past = await trial(now - 60_000);
  assert.notDeepEqual(balancesOf(past), balancesOf(shown));
  now += 120_000;
  await order('class-2', 'a-1001-savings', 0.55);
  await core.deliver([purchase('class-card', { amount: -1.5 })]);
  for (const one of [past, shown, await trial(), await trial(Date.parse('2000-01-03T12:00:00Z'))])
    await assertAddsUp(one);
});

test('a trial balance of now counts every entry before its moment, also one of its own millisecond', async () => {
  await order('class-same', 'a-1001-savings', 0.01);
  const { at, classes } = await trial();
  assert.ok(Date.parse(at) > now);
  await assertAddsUp({ at, classes });
});

test('a page that looks at a thousand accounts at zero is empty and leads on', async () => {
  const query = '?class=KEOGH&currency=USD&limit=5';
  const before = (await pagesOf(query)).flat();
  await asSuperuser(service.db.connection, async (client) => {
    await client.query('set session_replication_role = replica');
    await client.query(
      `with opened as (
         insert into accounts (institution_id, account_id, customer_key, account_number, di_account_type, category, description, currency)
         select c.institution_id, 'a-many-' || n, c.customer_key, n::text, 'KEOGH', 'INVESTMENT', 'Keogh Plan', 'USD'
         from customers c
         join institutions i using (institution_id)
         cross join generate_series(1, 2001) n
         where i.code = 'lakeside' and c.member_number = '100001'
         returning institution_id, account_key, account_id, account_number)
       insert into balances (institution_id, account_key, account_id, currency, posted, debits_pending, credits_pending, seq, last_at)
       select institution_id, account_key, account_id, 'USD', case account_number when '2001' then 700 else 0 end, 0, 0, 0, $1
       from opened`,
      [new Date(now)],
    );
  });
  try {
    const pages = await pagesOf(query);
    assert.ok(pages.some((page) => page.length === 0));
    assert.deepEqual(pages.flat().slice(before.length), [
      { accountId: 'a-many-2001', description: 'Keogh Plan', memberNumber: '100001', balance: '7.00' },
    ]);
  } finally {
    await asSuperuser(service.db.connection, async (client) => {
      await client.query('set session_replication_role = replica');
      await client.query(`delete from balances where account_id like 'a-many-%'`);
      await client.query(`delete from accounts where account_id like 'a-many-%'`);
    });
  }
});

test('refuses accounts of a class that does not exist, and shows no account of another institution', async () => {
  for (const query of [
    '',
    '?class=CHECKING',
    '?class=NOTHING&currency=USD',
    '?class=GENERAL_LEDGER_ACCOUNT&currency=USD',
    '?class=CHECKING&currency=usd',
    '?class=CHECKING&currency=USD&before=yesterday',
    '?class=CHECKING&currency=USD&after=AAAA',
  ]) {
    const { status, body } = await viewer.get(`/ledger/accounts${query}`);
    assert.deepEqual([status, body.code], [400, 'invalid_request'], query);
  }
  const other = await operatorOf(service, 'Demo viewer', 'harbor');
  const ids = async (operator: TestOperator) =>
    (await operator.get('/ledger/accounts?class=CHECKING&currency=USD&limit=200')).body.map(
      (one: AccountOfClass) => one.accountId,
    );
  const [own, foreign] = [await ids(viewer), await ids(other)];
  assert.ok(own.length > 0 && foreign.length > 0);
  // Both institutions have accounts of the same ids, with balances of their own.
  const { body } = await other.get('/ledger/trial-balance');
  const { accounts } = body.classes.find((one: Class) => one.class === 'CHECKING');
  assert.equal(foreign.length, accounts);
  const first = await viewer.get('/ledger/accounts?class=CHECKING&currency=USD&limit=1');
  const next = /ledger\/accounts(\?[^>]*)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1];
  assert.equal((await other.get(`/ledger/accounts${next}`)).status, 400);
});

test('the audit counts each page of a class of members’ accounts, and none of the institution’s own', async () => {
  const { audit } = service.service.context.auth;
  const reads = async () => {
    await audit.settle();
    const rows = await service.db.superuser<{ subject: string; times: string }>(
      `select subject, sum(times)::text as times from audit_entries where action = 'account.read' and reason = 'class' group by subject`,
    );
    return new Map(rows.map(({ subject, times }) => [subject, Number(times)]));
  };
  const before = await reads();
  const pages = await pagesOf('?class=SAVINGS&currency=USD&limit=1');
  assert.ok(pages.length > 1);
  await pagesOf('?class=CORE_SETTLEMENT&currency=USD');
  const expected = new Map(before).set('SAVINGS USD', (before.get('SAVINGS USD') ?? 0) + pages.length);
  assert.deepEqual(await reads(), expected);
});

test('shows every balance as zero before the first entry', async () => {
  const { classes } = await trial(Date.parse('2000-01-03T12:00:00Z'));
  assert.ok(classes.length > 0);
  assert.ok(classes.every(({ debits, credits }) => cents(debits) === 0n && cents(credits) === 0n));
});

test('the flows of a period are the differences of its two trial balances', async () => {
  const before = balancesOf(await trial());
  now += 24 * 3_600_000;
  await signIn();
  const day = minuteOf(now).slice(0, 10);
  await order('flow-1', 'a-1001-savings', 40);
  await order('flow-2', 'a-1001-savings', 2.5);
  await core.deliver([purchase('flow-card', { amount: -7.77 })]);
  await core.deliver([{ ...purchase('flow-ach', { amount: 300 }), kind: 'ACH_CREDIT' }]);
  const after = balancesOf(await trial());
  const { status, body } = await viewer.get(`/ledger/flows?from=${day}&to=${day}`);
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(
    body.flows.find(({ to }: { to: string }) => to === 'SAVINGS'),
    {
      ...{ from: 'CHECKING', to: 'SAVINGS', fromAccountId: null, toAccountId: null },
      ...{ currency: 'USD', postings: 2, amount: '42.50' },
    },
  );
  assert.equal(
    body.flows.find(({ to }: { to: string }) => to === 'CORE_CARD').toAccountId,
    'internal:core-card:USD',
  );
  const moved = new Map<string, bigint>();
  for (const { from, to, amount } of body.flows) {
    moved.set(from, (moved.get(from) ?? 0n) - cents(amount));
    moved.set(to, (moved.get(to) ?? 0n) + cents(amount));
  }
  assert.ok(moved.size >= 4, [...moved.keys()].join());
  for (const [name, balance] of after)
    assert.equal(balance - (before.get(name) ?? 0n), moved.get(name) ?? 0n, name);
});

test('the balances of the last days end with that of now, and days before the first entry are left out', async () => {
  const before = (await viewer.get('/accounts/a-1001-savings')).body.balance;
  const yesterday = minuteOf(now).slice(0, 10);
  now += 24 * 3_600_000;
  await signIn();
  await order('history-1', 'a-1001-savings', 0.07);
  const { status, body } = await viewer.get('/accounts/a-1001-savings/balances?days=10');
  assert.equal(status, 200, JSON.stringify(body));
  const [last, midnight, ...earlier] = body.balances.toReversed();
  assert.equal(last.before, new Date(now).toISOString());
  assert.equal(cents(last.balance), cents(before) + 7n);
  // The day ends at midnight in New York.
  assert.deepEqual(midnight, { before: `${nextDay(yesterday)}T05:00:00.000Z`, balance: before });
  assert.ok(earlier.length < 8, JSON.stringify(earlier));
  for (const days of [0, 367, 'x'])
    assert.equal((await viewer.get(`/accounts/a-1001-savings/balances?days=${days}`)).status, 400);
  const other = await operatorOf(service, 'Demo viewer', 'harbor');
  assert.equal((await other.get('/accounts/a-1002-mortgage/balances')).status, 404);
  const [entry] = await service.db.superuser<{ reason: string; operator: string }>(
    `select reason, operator from audit_entries where action = 'account.read' and reason = 'balances' order by audit_key desc limit 1`,
  );
  assert.deepEqual(entry, { reason: 'balances', operator: 'Demo viewer' });
});

test('a sum that the database ends after its time is refused with advice, and any other failure stays what it is', async () => {
  const { database } = service.service.context;
  const failing = (code: string) => ({
    ...{ advice: 'Choose a later moment.' },
    read: (db: Queryable) =>
      db.query({
        name: `test_raise_${code}`,
        text: `do $$ begin raise exception using errcode = '${code}'; end $$`,
      }),
  });
  const institutionId = 1 as InstitutionId;
  await assert.rejects(readSums(database, institutionId, failing('57014')), {
    code: 'act_refused',
    message: 'act_refused: It took more than ten seconds to read this. Choose a later moment.',
  });
  await assert.rejects(
    readSums(database, institutionId, failing('22012')),
    (error) => !(error instanceof Problem),
  );
});

test('the balance of a debt is positive', async () => {
  const { body } = await viewer.get('/accounts/a-1002-mortgage/balances?days=1');
  assert.equal(body.balances.at(-1).balance, (await viewer.get('/accounts/a-1002-mortgage')).body.balance);
});

test('a period of another day has no flow, and another institution sees its own ledger', async () => {
  const { body } = await viewer.get('/ledger/flows?from=2026-01-05&to=2026-01-05');
  assert.deepEqual(body.flows, []);
  const other = await operatorOf(service, 'Demo viewer', 'harbor');
  assert.deepEqual((await other.get('/ledger/flows')).body.flows, []);
});

test('refuses a moment that is in the future or no time, and a period that is reversed or too long', async () => {
  for (const path of [
    '/ledger/trial-balance?at=2027-01-01T00:00',
    '/ledger/trial-balance?at=2026-02-30T00:00',
    '/ledger/trial-balance?at=2026-02-03T25:00',
    '/ledger/trial-balance?at=yesterday',
    '/ledger/flows?from=2026-11-18&to=2026-11-17',
    '/ledger/flows?from=2026-10-01&to=2026-11-01',
    '/ledger/flows?from=2026-02-30',
  ]) {
    const { status, body } = await viewer.get(path);
    assert.deepEqual([status, body.code], [400, 'invalid_request'], path);
  }
  assert.equal((await viewer.get('/ledger/flows?from=2026-10-01&to=2026-10-31')).status, 200);
});
