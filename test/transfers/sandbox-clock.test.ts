import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runCli } from '../support/cli.ts';
import { clientOf, type DemoCaller, memberOf, paths, send } from '../support/demo.ts';
import { eventually } from '../support/desk.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* The business time of a demo institution, moved forward under two running services. */

let service: TestService;
let beside: TestService;
let bank: DemoCaller;
let harbor: DemoCaller;
before(async () => {
  service = await startTestService();
  beside = await startTestService({ beside: service });
  bank = await clientOf(service);
  harbor = await clientOf(service, ['harbor-app', 'harbor-app-secret']);
});
after(async () => {
  await beside.close();
  await service.close();
});

const dayMillis = 24 * 60 * 60_000;
const move = (by: string, code = 'lakeside') =>
  runCli(service.db, ['demo', 'clock', by, '--institution', code]);
const held = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1003-checking', amount: 1000.01 };
const order = async (caller: DemoCaller, body: object) => {
  const answer = await caller.post(paths.transfers, body);
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
};
const read = async (caller: DemoCaller, id: string) => (await caller.get(`${paths.transfers}/${id}`)).body;
const ahead = (time: string) => new Date(time).getTime() - Date.now();

test('a moved clock posts pending transfers and dates new orders in every process, while tokens and other institutions keep their time', async () => {
  const pending = await order(bank, { ...held, id: 'clock-pending' });
  assert.equal(pending.status, 'PENDING');
  const elsewhere = await order(harbor, {
    id: 'clock-elsewhere',
    fromAccountId: 'a-1002-checking',
    toAccountId: 'a-1001-checking',
    amount: 600,
  });
  assert.equal(elsewhere.status, 'PENDING');
  const moved = await move('+1d');
  assert.equal(moved.code, 0, moved.stderr);
  assert.match(moved.stdout, /^lakeside: it is \d{4}-.*, 86400 seconds ahead of the real time\.$/m);
  const posted = await eventually(
    () => read(bank, 'clock-pending'),
    ({ status }) => status !== 'PENDING',
  );
  assert.equal(posted.status, 'COMPLETED');
  // The earlier tokens stay valid, although a day has passed.
  for (const running of [service, beside]) {
    const answer = await send(running.address, 'POST', paths.transfers, {
      body: { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 1 },
      headers: { authorization: `Bearer ${bank.token}` },
    });
    assert.equal(answer.status, 201, answer.text);
    assert.ok(Math.abs(ahead(answer.body.createdAt) - dayMillis) < 60_000, answer.text);
  }
  assert.equal((await read(harbor, 'clock-elsewhere')).status, 'PENDING');
  const [audited] = await service.db.superuser<{ at: Date; after: object }>(
    `select recorded_at as at, after_change as after from audit_entries where action = 'institution.clock_moved'`,
  );
  assert.ok(Math.abs(ahead(audited?.at.toISOString() ?? '')) < 60_000, 'the audit has the real time');
  assert.match(JSON.stringify(audited?.after), /86400/);
});

test('a moved clock ends a lock by wrong passwords, and a service that starts later keeps it', async () => {
  const wrong = () =>
    send(service.address, 'POST', paths.token, {
      body: {
        grant_type: 'password',
        username: 'cedar.owner',
        password: 'wrong password of cedar',
        client_id: 'demo-app',
        client_secret: 'demo-app-secret',
      },
    });
  for (let index = 0; index < 5; index++) assert.equal((await wrong()).status, 400);
  const login = (running: TestService) => memberOf(running, 'cedar.owner', 'cedar-red-lantern-3');
  await assert.rejects(login(service), /no token/);
  assert.equal((await move('+16m')).code, 0);
  const later = await startTestService({ beside: service });
  try {
    const member = await login(later);
    const transfer = await order(member, {
      fromAccountId: 'a-1003-checking',
      toAccountId: 'a-1003-savings',
      amount: 1,
    });
    assert.ok(ahead(transfer.createdAt) > dayMillis + 15 * 60_000);
  } finally {
    await later.close();
  }
});

test('reconcile uses the moved time', async () => {
  const { code, stdout } = await runCli(service.db, ['reconcile', '--institution', 'lakeside']);
  assert.equal(code, 0, stdout);
});

test('the clock only moves forward, and only in a demo institution', async () => {
  for (const by of ['-1d', '1d', '+0d', '+1w', '+1000000000d']) assert.equal((await move(by)).code, 2, by);
  assert.match((await move('+9999d')).stderr, /at most ten years ahead/);
  const update = (set: string) =>
    service.db.superuser(`update institutions set ${set} where code = 'harbor'`);
  await update('clock_ahead_seconds = 60');
  await assert.rejects(update('clock_ahead_seconds = 59'), { code: 'SD030' });
  await assert.rejects(update('demo = false'), { code: '23514' });
  await service.db.superuser(
    `insert into institutions (code, name, currency, time_zone, enrollment, created_at)
     values ('realbank', 'Real', 'USD', 'UTC', 'closed', now())`,
  );
  const real = await move('+1d', 'realbank');
  assert.equal(real.code, 1);
  assert.match(real.stderr, /realbank is not a demo institution/);
  await assert.rejects(
    service.db.superuser(`update institutions set clock_ahead_seconds = 1 where code = 'realbank'`),
    { code: '23514' },
  );
});
