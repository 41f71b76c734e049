import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { reconcile } from '../../src/reconciliation/index.ts';
import { aConnector, type Connector, setCorePolicy, startCoreService } from '../support/core-instructions.ts';
import { clientOf, type DemoCaller, memberOf, paths } from '../support/demo.ts';

/* Stand-in: while the core is away, transfers complete within limits, and balances carry the time that they are true for. */

const [checking, savings] = ['a-1005-checking', 'a-1005-savings'];
let now = new Date();
let service: Awaited<ReturnType<typeof startCoreService>>;
let member: DemoCaller;
let bank: DemoCaller;
let core: Connector;
before(async () => {
  service = await startCoreService({
    clock: () => now,
    // A token outlives the hours of this test.
    environment: { ACCESS_TOKEN_LIFETIME_SECONDS: '86400' },
  });
  const limit = (key: number, subject: string, most: number, type: string | null) =>
    service.db.superuser(
      `with key as (
         insert into limit_keys (institution_id, limit_key, counts)
         values ($1, $2, concat_ws(' ', $3::text, 'DAY', coalesce($5, ''), '', 'USD')))
       insert into transfer_limits (institution_id, limit_key, subject, period, transfer_type, currency, max_amount)
       values ($1, $2, $3, 'DAY', $5, 'USD', $4)`,
      [service.institutionId, key, subject, most, type],
    );
  await limit(901, 'STAND_IN', 1_000, null);
  await limit(902, 'STAND_IN_ACCOUNT', 500, null);
  await limit(903, 'STAND_IN', 300, 'INTRA_FI');
  member = await memberOf(service, 'juniper.two', 'juniper-two-lantern-5');
  bank = await clientOf(service);
  core = await aConnector(service, 'lakeside-core');
  await core.post('/digitalbanking/core/v1/heartbeat', {});
});
after(() => service.close());

let orders = 0;
async function place(more: object = {}) {
  const order = { id: `away-${++orders}`, fromAccountId: checking, toAccountId: savings, amount: 2, ...more };
  return bank.post(paths.transfers, order, { prefer: 'wait=0' });
}
const state = async () => {
  const [row] = await service.db.superuser<{ heard: Date }>('select heard_at as heard from core_connections');
  return row?.heard;
};

test('completes transfers within the limits while the core is away, and holds those above them', async () => {
  assert.equal((await place()).body.status, 'PENDING');
  for (const { id } of await core.take()) await core.accept(id);
  now = new Date(now.getTime() + 301_000);

  assert.equal((await place()).body.status, 'COMPLETED');
  assert.equal((await place()).body.status, 'COMPLETED');
  // 4.00 of the account's 5.00 are used.
  assert.equal((await place()).body.status, 'PENDING');
  // Another account: 3.00 of the type, and 10.00 of the institution.
  const other = { fromAccountId: 'a-1001-checking', toAccountId: savings };
  assert.equal((await place({ ...other, amount: 3.01 })).body.status, 'PENDING');
  assert.equal((await place({ ...other, amount: 3 })).body.status, 'COMPLETED');
  assert.equal((await place({ ...other, amount: 0.01 })).body.status, 'PENDING');
});

test('shows the time that balances are true for, only while the core is away', async () => {
  const heard = await state();
  const one = await member.get(`${paths.accounts}/${checking}`);
  assert.equal(one.headers.get('balances-as-of'), heard?.toISOString());
  assert.equal(one.body.balancesAsOf, heard?.toISOString());
  const all = await member.get(paths.accounts);
  assert.ok(
    all.body.every((account: { balancesAsOf: string }) => account.balancesAsOf === heard?.toISOString()),
  );
  const harbor = await memberOf(service, 'demo.member', 'harbor-member-password', [
    'harbor-app',
    'harbor-app-secret',
  ]);
  assert.equal((await harbor.get(paths.accounts)).headers.get('balances-as-of'), null);
});

test('tells the same path in a dry run and in the options', async () => {
  await setCorePolicy(service, { standIn: 'DECLINE' });
  const order = { fromAccountId: savings, toAccountId: checking };
  const dryRun = async (amount: number) =>
    (await member.post(`${paths.transfers}/dry-run`, { ...order, amount })).body;
  const { options } = (await member.get(`${paths.transfers}/options?fromAccountId=${savings}`)).body;
  const option = options.find(({ toAccountId }: { toAccountId: string }) => toAccountId === checking);
  // 7.00 of the institution's 10.00 are used.
  assert.equal(option.maximumAmount, 3);
  assert.equal((await dryRun(3)).transfer.status, 'COMPLETED');
  assert.deepEqual(
    (await dryRun(3.01)).reasons.map(({ code }: { code: string }) => code),
    ['core_unavailable'],
  );
  const declined = await place({ ...order, amount: 3.01 });
  assert.deepEqual([declined.status, declined.body.code], [422, 'core_unavailable']);
});

test('counts orders at once within the limit, in two processes', async () => {
  const placed = await Promise.all(
    Array.from({ length: 8 }, () => place({ fromAccountId: savings, toAccountId: checking, amount: 1 })),
  );
  const completed = placed.filter(({ body }) => body.status === 'COMPLETED');
  assert.equal(completed.length, 3);
  const over = service.db.superuser(
    'update limit_counters set amount = max_amount + 1 where limit_key = 901 and max_amount is not null',
  );
  await assert.rejects(over, /limit_counters_amount/);
});

test('drains in order when the core is back, and reverses what it rejects', async () => {
  const { openInstructions } = (await core.get('/digitalbanking/core/v1/connection')).body;
  const exposed = openInstructions.find(({ mode }: { mode: string }) => mode === 'STAND_IN');
  assert.equal(exposed.amount, 10);
  const [sum] = await service.db.superuser<{ sum: string }>(
    `select sum(amount) from core_instructions where state = 'OPEN' and mode = 'STAND_IN'`,
  );
  assert.equal(Number(sum?.sum), 1_000);

  const waiting = await core.take();
  assert.deepEqual(
    waiting.map(({ sequence }) => sequence),
    waiting.map(({ sequence }) => sequence).toSorted((a, b) => a - b),
  );
  const [first, ...others] = waiting;
  const refused = await core.reject(first.id);
  assert.equal(refused.body.transferStatus, 'COMPLETED');
  assert.notEqual((await bank.get(`${paths.transfers}/${first.id}`)).body.reversedBy, undefined);
  for (const { id } of others) await core.accept(id);
  const back = (await core.get('/digitalbanking/core/v1/connection')).body;
  assert.deepEqual([back.state, back.openInstructions], ['connected', []]);
  now = new Date(now.getTime() + 2_000);
  assert.equal((await member.get(paths.accounts)).headers.get('balances-as-of'), null);
  assert.equal((await place()).body.status, 'PENDING');
});

test('fails by the clock what the core has not fetched, and never what it has', async () => {
  await setCorePolicy(service, { waitSeconds: 60 });
  await core.take();
  const fetched = (await place()).body;
  await core.take();
  const unseen = (await place({ fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings' })).body;
  now = new Date(now.getTime() + 61_000);
  const read = async (id: string) => (await bank.get(`${paths.transfers}/${id}`)).body;
  for (let tries = 0; tries < 100 && (await read(unseen.id)).status === 'PENDING'; tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal((await read(unseen.id)).failureCode, 'core_unavailable');
  assert.equal((await read(fetched.id)).status, 'PENDING');
  assert.equal((await core.accept(unseen.id)).status, 409);
  await core.accept(fetched.id);
  assert.equal((await read(fetched.id)).status, 'COMPLETED');
});

test('leaves nothing for reconcile to find', async () => {
  const findings: object[] = [];
  await reconcile(service.service.context.database, service.institutionId, {
    at: now,
    onFinding: (finding) => void findings.push(finding),
  });
  assert.deepEqual(findings, []);
});
