import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, test } from 'node:test';
import { setScreening } from '../../src/screening/index.ts';
import { initiateTransfer, parseDecimalAmount } from '../../src/transfers/index.ts';
import { runCli } from '../support/cli.ts';
import { clientOf, type DemoCaller, memberOf, paths } from '../support/demo.ts';
import { deskOf, eventually, type TestDesk } from '../support/desk.ts';
import { commandOf } from '../support/operator.ts';
import { demoAddress, operatorOf } from '../support/operators.ts';
import { startTestService, type TestService } from '../support/service.ts';

const from = 'a-1001-checking';
const to = 'a-1001-savings';
const standing = { fromMinor: 0n, timeoutMillis: 400, onSilence: 'HOLD', holdSeconds: 3_600 } as const;

interface Asked {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** An institution's own screening. `answer` returns the body of the response, or undefined for none. */
const hook = {
  asked: [] as Asked[],
  answer: async (): Promise<string | undefined> => '{"verdict":"approve"}',
  url: '',
};
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  hook.asked.push({ headers: request.headers, body });
  const answer = await hook.answer();
  if (answer !== undefined) response.writeHead(200).end(answer);
});

let service: TestService;
let member: DemoCaller;
let operator: TestDesk;
let secret: string | undefined;
before(async () => {
  service = await startTestService({ environment: demoAddress });
  member = await memberOf(service, 'demo.member', 'demo-member-password');
  operator = await deskOf(service);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  hook.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/screen`;
  ({ secret } = await screenBy({}));
});
after(async () => {
  await operator[Symbol.asyncDispose]();
  await service.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
afterEach(async () => {
  await screenBy({});
  hook.asked.length = 0;
  hook.answer = async () => '{"verdict":"approve"}';
});

let last: string | undefined;

/** Changes the setting, and waits until the service has learned of it. */
async function screenBy(change: Partial<Parameters<typeof setScreening>[2]['settings']>) {
  const settings = { ...standing, url: hook.url, ...change };
  const { webhooks } = service.service.context;
  const changed = await setScreening(webhooks, operator.institutionId, {
    settings,
    origin: commandOf('olive'),
  });
  const asText = Object.values(settings).join(' ');
  if (asText !== last) await new Promise((resolve) => setTimeout(resolve, 1_100));
  last = asText;
  return changed;
}

const answerWith = (answer: object | string | undefined) => {
  const text = typeof answer === 'object' ? JSON.stringify(answer) : answer;
  hook.answer = async () => text;
};

async function pay(id: string, amount = 12.5, more: object = {}) {
  return member.post(paths.transfers, { id, fromAccountId: from, toAccountId: to, amount, ...more });
}

async function balanceOf(accountId: string): Promise<bigint> {
  const [row] = await service.db.superuser<{ posted: bigint }>(
    'select posted from balances where institution_id = $1 and account_id = $2',
    [operator.institutionId, accountId],
  );
  assert.ok(row !== undefined);
  return row.posted;
}

async function screeningOf(transferId: string) {
  const [row] = await service.db.superuser<{ verdict: string; answer: string; reference: string | null }>(
    `select s.verdict, s.answer, s.reference from transfer_screenings s
     join transfers t using (institution_id, transfer_key) where t.transfer_id = $1`,
    [transferId],
  );
  return row;
}

test('an approved order completes, and the signed question tells of it', async () => {
  answerWith({ verdict: 'approve', reference: 'case 7' });
  const { status, text } = await pay('approved', 12.5, { memo: 'rent' });
  assert.equal(status, 201, text);
  assert.equal(JSON.parse(text).status, 'COMPLETED');
  const [asked, more] = hook.asked;
  assert.ok(asked !== undefined && more === undefined);
  const { timestamp, data, type } = JSON.parse(asked.body);
  assert.equal(type, 'transfer.screening');
  const { userId, requestId, ...rest } = data;
  assert.ok(userId !== null && requestId !== null && timestamp !== undefined);
  assert.deepEqual(rest, {
    transferId: 'approved',
    transferType: 'STANDARD',
    fromAccountId: from,
    toAccountId: to,
    amount: '12.50',
    currencyCode: 'USD',
    memo: 'rent',
    isBetweenMembers: false,
    clientId: 'demo-app',
    callerAddress: '127.0.0.1',
    isTest: false,
  });
  const signed = `approved.${asked.headers['webhook-timestamp']}.${asked.body}`;
  const key = Buffer.from((secret ?? '').replace('whsec_', ''), 'base64');
  const expected = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  assert.equal(asked.headers['webhook-signature'], expected);
  assert.deepEqual(await screeningOf('approved'), {
    verdict: 'APPROVE',
    answer: 'ANSWERED',
    reference: 'case 7',
  });
});

test('a declined order fails without its reason, moves nothing, and uses up its id', async () => {
  answerWith({ verdict: 'decline', reference: 'mule' });
  const before = await balanceOf(from);
  const declined = await pay('declined');
  assert.equal(declined.status, 422, declined.text);
  const problem = JSON.parse(declined.text);
  assert.equal(problem.code, 'transfer_declined');
  assert.doesNotMatch(declined.text, /mule|screen/);
  assert.equal(await balanceOf(from), before);
  answerWith({ verdict: 'approve' });
  const again = await pay('declined');
  assert.equal(again.status, 422);
  assert.equal(hook.asked.length, 1, 'a used id is not asked about again');
});

test('a held order waits for a person and expires without one, whatever the policy of its type says', async () => {
  answerWith({ verdict: 'hold', reference: 'look' });
  const { text } = await pay('held');
  assert.equal(JSON.parse(text).status, 'PENDING');
  const [pending] = await service.db.superuser(
    `select p.held_for, p.when_due, p.approvals_needed, extract(epoch from p.due_at - t.created_at)::int as seconds
     from pending_transfers p join transfers t using (institution_id, transfer_key) where t.transfer_id = 'held'`,
  );
  assert.deepEqual(pending, { held_for: 'REVIEW', when_due: 'EXPIRE', approvals_needed: 1, seconds: 3_600 });
  const approver = await operatorOf(service, 'Demo approver');
  const waiting: { id: string; reasons: object }[] = (await approver.get('/pending')).body;
  assert.deepEqual(waiting.find(({ id }) => id === 'held')?.reasons, [
    { kind: 'SCREENING', answer: 'ANSWERED', reference: 'look' },
  ]);
  const shown = await runCli(service.db, ['transfer', 'show', 'held', '--institution', 'lakeside']);
  assert.match(shown.stdout, /screening\s+hold \(answered, look, \d+ ms\)/);
  const approved = await runCli(service.db, [
    'transfer',
    'approve',
    'held',
    '--institution',
    'lakeside',
    '--as',
    'ann',
  ]);
  assert.equal(approved.code, 0, approved.stderr);
  assert.match((await member.get(`${paths.transfers}/held`)).text, /COMPLETED/);
});

test('an order without a valid answer gets the verdict of the policy', async () => {
  await screenBy({ onSilence: 'DECLINE' });
  const answers = {
    late: undefined,
    'no-json': '<html>',
    unknown: { verdict: 'maybe' },
    'no-object': '"approve"',
    huge: { padding: 'x'.repeat(5_000), verdict: 'approve' },
  };
  for (const [id, answer] of Object.entries(answers)) {
    answerWith(answer);
    assert.equal((await pay(id)).status, 422, id);
    assert.deepEqual(await screeningOf(id), { verdict: 'DECLINE', answer: 'SILENT', reference: null });
    // Five in a row without an answer would pause the questions.
    answerWith({ verdict: 'approve' });
    assert.equal((await pay(`${id}-after`)).status, 201);
  }
});

test('a verdict is obeyed even if its reference cannot be kept', async () => {
  answerWith({ verdict: 'decline', reference: 'x'.repeat(101) });
  assert.equal((await pay('long-reference')).status, 422);
  assert.deepEqual(await screeningOf('long-reference'), {
    verdict: 'DECLINE',
    answer: 'ANSWERED',
    reference: null,
  });
});

test('the time limit ends a question that gets no answer', async () => {
  answerWith(undefined);
  const startedAt = performance.now();
  await pay('slow');
  const millis = performance.now() - startedAt;
  assert.ok(millis >= 400, `${millis} ms`);
  assert.equal((await screeningOf('slow'))?.answer, 'SILENT');
});

test('nothing is locked while the hook is asked', async () => {
  await screenBy({ timeoutMillis: 5_000 });
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  hook.answer = async () => {
    await gate;
    return '{"verdict":"approve"}';
  };
  const waiting = pay('waits');
  await eventually(
    async () => hook.asked.length,
    (count) => count === 1,
  );
  const free = await service.db.superuser(
    'select account_id from balances where account_id = $1 for update nowait',
    [from],
  );
  assert.ok(free.length > 0);
  open();
  assert.equal((await waiting).status, 201);
});

test('the same order sent twice at once moves its money once', async () => {
  const before = await balanceOf(from);
  const sent = await Promise.all([pay('twice', 3), pay('twice', 3), pay('twice', 3)]);
  assert.deepEqual(sent.map(({ status }) => status).sort(), [200, 200, 201]);
  assert.equal(await balanceOf(from), before - 300n);
});

test('an order that would fail, or is below the amount, is not asked about', async () => {
  await screenBy({ fromMinor: 1_000n });
  assert.equal((await pay('poor', 9_000_000)).status, 422);
  assert.equal((await pay('small', 9.99)).status, 201);
  assert.equal((await pay('foreign', 50, { fromAccountId: 'a-1003-checking' })).status, 422);
  assert.equal(hook.asked.length, 0);
  assert.equal((await pay('at-the-amount', 10)).status, 201);
  assert.equal(hook.asked.length, 1);
});

test('a dry run asks nobody', async () => {
  answerWith({ verdict: 'decline' });
  const { status, text } = await member.post(`${paths.transfers}/dry-run`, {
    fromAccountId: from,
    toAccountId: to,
    amount: 5,
  });
  assert.equal(status, 200, text);
  assert.equal(hook.asked.length, 0);
});

test('an order of a client of the institution is screened too', async () => {
  answerWith({ verdict: 'decline' });
  const app = await clientOf(service);
  const order = { id: 'by-client', fromAccountId: from, toAccountId: to, amount: 2 };
  assert.equal((await app.post(paths.transfers, order)).status, 422);
  assert.equal(JSON.parse(hook.asked[0]?.body ?? '{}').data.userId, null);
});

test('an order that comes to the desk without a verdict gets that of the policy', async () => {
  // A desk beside the service's, which asks nobody.
  const amount = parseDecimalAmount('4.00');
  assert.ok(amount !== undefined && typeof amount === 'object');
  const client = { kind: 'client', institutionId: operator.institutionId, clientId: 'demo-app' } as const;
  const outcome = await initiateTransfer(operator.desk, client, {
    order: {
      transferId: 'unasked',
      fromAccountId: from,
      toAccountId: to,
      amount: amount as never,
      currencyCode: null,
      transferType: null,
      paymentOption: null,
      previousYearContribution: null,
      memo: null,
    },
    origin: commandOf('olive'),
  });
  assert.equal(outcome.kind === 'new' && outcome.transfer.status, 'PENDING');
  assert.deepEqual(await screeningOf('unasked'), { verdict: 'HOLD', answer: 'NOT_ASKED', reference: null });
});

test('the database refuses money that moves without a verdict, or against it', async () => {
  await service.db.superuser("update screening_hooks set binds_from = now() - interval '1 second'");
  const copy = `insert into transfers (institution_id, transfer_key, transfer_id, transfer_type, from_account_id, to_account_id,
      from_key, to_key, amount, currency, status, client_id, created_at, settled_at)
    select institution_id, transfer_key + 1000000, 'copied', transfer_type, from_account_id, to_account_id,
      from_key, to_key, amount, currency, 'COMPLETED', client_id, created_at, settled_at
    from transfers where transfer_id = 'approved'`;
  await assert.rejects(service.db.superuser(copy), { code: 'SD212' });
  const against = (word: string) => `with s as (
      insert into transfer_screenings (institution_id, transfer_key, verdict, answer)
      select institution_id, transfer_key + 1000000, '${word}', 'NOT_ASKED' from transfers where transfer_id = 'approved')
    ${copy}`;
  for (const word of ['DECLINE', 'HOLD']) {
    await assert.rejects(service.db.superuser(against(word)), { code: 'SD212' });
  }
  const unreviewed = `insert into pending_transfers (institution_id, transfer_key, held_for, due_at, when_due, approvals_needed)
    select institution_id, transfer_key, 'CUT_OFF', now(), 'POST', 0 from transfers where transfer_id = 'held'`;
  await assert.rejects(service.db.superuser(unreviewed), { code: 'SD213' });
});

test('the secret rotates with an overlap, and the commands show, try and end the screening', async () => {
  const run = (...words: string[]) =>
    runCli(service.db, ['screening', ...words, '--institution', 'lakeside']);
  const rotated = await run('rotate', '--overlap', '1');
  assert.match(rotated.stdout, /^secret: whsec_/);
  await pay('both-secrets');
  assert.equal(String(hook.asked[0]?.headers['webhook-signature']).split(' ').length, 2);
  assert.match((await run('rotate')).stderr, /Two secrets are valid/);
  assert.match((await run('show')).stdout, /without an answer\s+hold/);
  answerWith({ verdict: 'approve', reference: 'ok' });
  assert.match((await run('test')).stdout, /^approve \(ok\), \d+ ms/);
  answerWith(undefined);
  assert.match((await run('test')).stdout, /^no answer: timeout/);
  assert.match((await run('set', '--url', 'http://user@127.0.0.1/')).stderr, /url: Must be an absolute URL/);
  assert.equal((await run('off', '--yes')).code, 0);
  assert.match((await run('show')).stdout, /screens no orders/);
  assert.match((await run('off', '--yes')).stderr, /screens no orders/);
});

test('a hook that is down is not asked after five questions in a row, and orders do not wait for it', async () => {
  await screenBy({ url: 'http://127.0.0.1:1/', onSilence: 'APPROVE' });
  for (let at = 0; at < 6; at += 1) assert.equal((await pay(`down-${at}`, 1)).status, 201);
  await screenBy({ onSilence: 'APPROVE' });
  assert.equal((await pay('paused', 1)).status, 201);
  assert.equal(hook.asked.length, 0);
});

test('an administrator changes the rules by operations, and cannot name the address', async () => {
  const administrator = await operatorOf(service, 'Demo administrator', 'lakeside');
  const ask = async (method: string, path: string, body?: object) => {
    const { status, body: document } = await administrator.send(method, path, body);
    return [status, document];
  };
  const reason = 'a test';
  const rules = { from: '250.00', timeoutMillis: 800, onSilence: 'DECLINE', holdSeconds: 60 };
  const shown = { on: true, url: hook.url, currencyCode: 'USD', ...rules };
  assert.deepEqual(await ask('PATCH', '/screening', { reason, ...rules }), [200, shown]);
  assert.deepEqual(await ask('PATCH', '/screening', { reason, holdSeconds: 60 }), [200, shown]);
  assert.deepEqual(await ask('GET', '/screening'), [200, shown]);
  for (const wrong of [
    { url: 'https://10.0.0.1/' },
    { timeoutMillis: 49 },
    { from: '1.001' },
    { from: '-1' },
  ]) {
    const [status, { code }] = (await ask('PATCH', '/screening', { reason, ...wrong })) as [
      number,
      { code: string },
    ];
    assert.deepEqual([status, code], [400, 'invalid_request'], JSON.stringify(wrong));
  }
  answerWith({ verdict: 'hold', reference: 'case 9' });
  const [status, tried] = (await ask('POST', '/screening/test', { reason })) as [number, { millis: number }];
  assert.deepEqual(
    [status, { ...tried, millis: 0 }],
    [200, { verdict: 'HOLD', reference: 'case 9', millis: 0 }],
  );
  const rotations = await Promise.all(
    [1, 2].map(() => ask('POST', '/screening/rotate-secret', { reason, overlapHours: 0 })),
  );
  assert.deepEqual(
    rotations.map(([status]) => status),
    [200, 200],
  );
  const ended = await Promise.all([1, 2].map(() => ask('POST', '/screening/off', { reason })));
  assert.deepEqual(ended.map(([status]) => status).toSorted(), [200, 404]);
  assert.deepEqual(await ask('GET', '/screening'), [200, { on: false }]);
  const entries = await service.db.superuser<{ action: string; stated_reason: string }>(
    `select action, stated_reason from audit_entries where operator_id is not null and action like 'screening.%' order by audit_key`,
  );
  assert.deepEqual(
    entries.map(({ action, stated_reason }) => `${action}: ${stated_reason}`),
    [
      'screening.changed: a test',
      'screening.tested: a test',
      'screening.rotated: a test',
      'screening.rotated: a test',
      'screening.removed: a test',
    ],
  );
});
