import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { clientOf, type DemoCaller, paths } from '../support/demo.ts';
import { demoAddress, operatorOf, type TestOperator } from '../support/operators.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let now = Date.now();
let harbor: DemoCaller;
let one: TestOperator;
let two: TestOperator;

before(async () => {
  service = await startTestService({ environment: demoAddress, clock: () => new Date(now) });
  harbor = await clientOf(service, ['harbor-app', 'harbor-app-secret']);
  one = await operatorOf(service, 'Demo approver', 'harbor');
  two = await operatorOf(service, 'Second demo approver', 'harbor');
});
after(() => service.close());

const reason = { reason: 'called the member back' };

async function hold(id: string, amount: number): Promise<void> {
  const order = { id, fromAccountId: 'a-1002-checking', toAccountId: 'a-1001-checking', amount };
  assert.equal((await harbor.post(paths.transfers, order)).body.status, 'PENDING');
}

test('posts a transfer that two different approvers approved, and names both in the audit', async () => {
  await hold('desk-two', 1510);
  const waiting = (await one.get('/pending')).body.find(({ id }: { id: string }) => id === 'desk-two');
  assert.deepEqual([waiting.amount, waiting.approvalsNeeded, waiting.approvedBy], ['1510.00', 2, []]);
  assert.deepEqual(waiting.reasons, [{ kind: 'AMOUNT', threshold: '500.00' }]);
  const first = await one.post('/transfers/desk-two/approve', reason);
  assert.deepEqual(
    [first.status, first.body.outcome, first.body.waitsFor],
    [200, 'WAITS', 'SECOND_APPROVAL'],
  );
  const again = await one.post('/transfers/desk-two/approve', reason);
  assert.deepEqual([again.status, again.body.code], [409, 'act_refused']);
  const second = await two.post('/transfers/desk-two/approve', reason);
  assert.deepEqual([second.body.outcome, second.body.status], ['DONE', 'COMPLETED']);
  const late = await one.post('/transfers/desk-two/decline', reason);
  assert.deepEqual([late.status, late.body.code], [409, 'transfer_final']);
  const shown = (await one.get('/transfers/desk-two')).body;
  assert.equal(shown.entries.length, 4);
  assert.equal(shown.amount, '1510.00');
  const reviewed = shown.checks.filter(({ check }: { check: string }) => check === 'REVIEW');
  const thresholds = [
    { name: 'threshold', amount: '500.00' },
    { name: 'secondThreshold', amount: '1500.00' },
  ];
  const held = { check: 'REVIEW', outcome: 'HELD', source: 'RECOMPUTED', limit: null };
  assert.deepEqual(reviewed, [{ ...held, figures: thresholds, headroom: '500.00' }]);
  const entries = await service.db.superuser<{
    operator: string;
    is_named: boolean;
    stated_reason: string;
    address: string;
  }>(
    `select operator, operator_id is not null as is_named, stated_reason, host(address) as address from audit_entries
     where action = 'transfer.approved' and subject = 'desk-two' and outcome = 'succeeded' order by audit_key`,
  );
  assert.deepEqual(
    entries,
    ['Demo approver', 'Second demo approver'].map((operator) => ({
      operator,
      is_named: true,
      stated_reason: reason.reason,
      address: '127.0.0.1',
    })),
  );
});

test('fails a declined transfer, reverses a completed one by two persons, and refuses a third time', async () => {
  await hold('desk-no', 510);
  const declined = await one.post('/transfers/desk-no/decline', reason);
  assert.deepEqual([declined.body.outcome, declined.body.status], ['DONE', 'FAILED']);
  await hold('desk-back', 510);
  assert.equal((await one.post('/transfers/desk-back/approve', reason)).body.status, 'COMPLETED');
  const proposed = await one.post('/transfers/desk-back/reverse', reason);
  assert.deepEqual([proposed.body.outcome, proposed.body.proposedBy], ['PROPOSED', 'Demo approver']);
  assert.equal((await one.post('/transfers/desk-back/reverse', reason)).body.outcome, 'PROPOSED');
  const waiting = (await two.get('/pending')).body.map(
    ({ kind, id }: { kind: string; id: string }) => `${kind} ${id}`,
  );
  assert.ok(waiting.includes('proposal desk-back'));
  // A filter is for transfers.
  const filtered: { kind: string }[] = (await two.get('/pending?heldFor=REVIEW')).body;
  assert.ok(filtered.every(({ kind }) => kind === 'transfer'));
  const done = await two.post('/transfers/desk-back/reverse', reason);
  assert.deepEqual([done.body.outcome, done.body.status], ['DONE', 'COMPLETED']);
  assert.equal((await two.post('/transfers/desk-back/reverse', reason)).body.code, 'transfer_final');
});

test('shows both accounts of a transfer with exact balances to roles that read members, and audits each read', async () => {
  const reads = async () =>
    (
      await service.db.superuser<{ subject: string }>(
        `select subject from audit_entries where action = 'account.read' and reason = 'balances' order by audit_key`,
      )
    ).map(({ subject }) => subject);
  const before = await reads();
  await hold('desk-sides', 510);
  const sides = await one.get('/transfers/desk-sides/accounts');
  assert.deepEqual((await reads()).slice(before.length), ['a-1002-checking', 'a-1001-checking']);
  for (const [side, id] of [
    ['from', 'a-1002-checking'],
    ['to', 'a-1001-checking'],
  ] as const) {
    const account = (await one.get(`/accounts/${id}`)).body;
    const { current, available, holdsOut, holdsIn, ...facts } = sides.body[side];
    assert.deepEqual([facts.accountId, facts.currency, facts.category], [id, 'USD', 'DEPOSIT']);
    assert.deepEqual([current, holdsOut, holdsIn], [account.balance, account.holdsOut, account.holdsIn]);
    const cents = (text: string) => BigInt(text.replace('.', ''));
    assert.equal(cents(available), cents(current) - cents(holdsOut));
  }
  const administrator = await operatorOf(service, 'Demo administrator', 'harbor');
  assert.equal((await administrator.get('/transfers/desk-sides/accounts')).status, 403);
  const elsewhere = await operatorOf(service, 'Demo approver', 'lakeside');
  assert.equal((await elsewhere.get('/transfers/desk-sides/accounts')).status, 404);
  assert.equal((await reads()).length, before.length + 2);
  assert.equal((await one.post('/transfers/desk-sides/decline', reason)).body.status, 'FAILED');
});

test('refuses an act without a reason, and one in a body with unknown members', async () => {
  await hold('desk-mute', 510);
  for (const body of [
    {},
    { reason: '' },
    { reason: '  ' },
    { reason: 'x'.repeat(257) },
    { ...reason, as: 'Somebody else' },
  ]) {
    const answer = await one.post('/transfers/desk-mute/approve', body);
    assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_request'], JSON.stringify(body));
  }
  assert.equal((await one.post('/transfers/desk-mute/decline', reason)).status, 200);
});

test('shows an institution’s transfers to its own operators only', async () => {
  await hold('desk-wall', 510);
  const lakeside = await operatorOf(service, 'Demo approver', 'lakeside');
  assert.equal((await lakeside.get('/transfers/desk-wall')).status, 404);
  assert.equal((await lakeside.post('/transfers/desk-wall/approve', reason)).status, 404);
  const listed = (await lakeside.get('/pending')).body;
  assert.ok(!listed.some(({ id }: { id: string }) => id === 'desk-wall'));
  assert.equal((await one.post('/transfers/desk-wall/decline', reason)).status, 200);
});

test('finds transfers by status, amount, account and code, in pages without a gap', async () => {
  const all: string[] = [];
  let path: string | undefined = '/transfers?limit=2';
  while (path !== undefined) {
    const page = await one.get(path);
    assert.equal(page.status, 200, JSON.stringify(page.body));
    all.push(...page.body.map(({ id }: { id: string }) => id));
    path = /<[^>]*\/operations\/v1([^>]+)>/.exec(page.headers.get('link') ?? '')?.[1];
  }
  assert.equal(new Set(all).size, all.length);
  for (const id of ['desk-two', 'desk-no', 'desk-back']) assert.ok(all.includes(id), id);
  const pagesOf = async (query: string) => {
    const rows: { id: string; fromAccountId: string; toAccountId: string }[] = [];
    for (let next: string | undefined = `/transfers?limit=2${query}`; next !== undefined; ) {
      const page = await one.get(next);
      rows.push(...page.body);
      next = /<[^>]*\/operations\/v1([^>]+)>/.exec(page.headers.get('link') ?? '')?.[1];
    }
    return rows;
  };
  const every = await pagesOf('');
  for (const account of ['a-1002-checking', 'a-1001-checking', 'a-1001-savings']) {
    const touching = every.filter(({ fromAccountId, toAccountId }) =>
      [fromAccountId, toAccountId].includes(account),
    );
    assert.deepEqual(await pagesOf(`&accountId=${account}`), touching, account);
    const failed = await pagesOf(`&accountId=${account}&status=FAILED&leastAmount=1`);
    assert.ok(failed.every((row) => touching.some(({ id }) => id === row.id)));
  }
  assert.deepEqual(await pagesOf('&userId=no-such-user'), []);
  const found = async (query: string) =>
    (await one.get(`/transfers?${query}`)).body.map(({ id }: { id: string }) => id);
  assert.deepEqual(await found('leastAmount=1510&mostAmount=1510.00'), ['desk-two']);
  assert.ok((await found('status=FAILED')).includes('desk-no'));
  assert.ok(!(await found('status=FAILED')).includes('desk-two'));
  assert.deepEqual(await found('accountId=no-such-account'), []);
  assert.equal((await one.get('/transfers?leastAmount=1.234')).status, 400);
  assert.equal((await one.get('/transfers?since=yesterday')).status, 400);
  assert.equal((await one.get('/transfers?sort=amount')).status, 400);
});

test('pages the entries of an account with the balance after each, and audits each page', async () => {
  const shown = (await one.get('/accounts/a-1002-checking')).body;
  const first = await one.get('/accounts/a-1002-checking/entries?limit=3');
  assert.equal(first.body[0].balanceAfter, shown.balance);
  const link = /<[^>]*\/operations\/v1([^>]+)>/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
  const second = await one.get(link);
  assert.equal(second.body[0].entry, first.body[2].entry - 1);
  assert.equal((await one.get('/accounts/no-such/entries')).status, 404);
  await service.service.context.auth.audit.settle();
  const [counted] = await service.db.superuser<{ reads: bigint }>(
    `select sum(times) as reads from audit_entries where action = 'account.read' and reason = 'entries'`,
  );
  assert.equal(Number(counted?.reads), 2);
});

test('wants a sign-in within five minutes for a decision, and none for a read', async () => {
  await hold('desk-stale', 510);
  now += 301_000;
  assert.equal((await one.get('/transfers/desk-stale')).status, 200);
  const stale = await one.post('/transfers/desk-stale/approve', reason);
  assert.deepEqual(
    [stale.status, stale.body.code, stale.body.max_age],
    [401, 'insufficient_user_authentication', 300],
  );
  assert.match(stale.headers.get('www-authenticate') ?? '', /max_age="300"/);
  const fresh = await operatorOf(service, 'Demo approver', 'harbor');
  assert.equal((await fresh.post('/transfers/desk-stale/approve', reason)).body.status, 'COMPLETED');
});
