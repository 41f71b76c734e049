import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { readTransferRules } from '../../src/app/transfer-rules.ts';
import { aConnector, type Connector, setCorePolicy, startCoreService } from '../support/core-instructions.ts';
import { clientOf, type DemoCaller, memberOf, paths } from '../support/demo.ts';
import { eventually } from '../support/desk.ts';

/* MEMO: a transfer within one membership completes at once, and a rejection takes it back. */

const [checking, savings] = ['a-1005-checking', 'a-1005-savings'];
let service: Awaited<ReturnType<typeof startCoreService>>;
let member: DemoCaller;
let bank: DemoCaller;
let core: Connector;
before(async () => {
  service = await startCoreService();
  member = await memberOf(service, 'juniper.two', 'juniper-two-lantern-5');
  bank = await clientOf(service);
  core = await aConnector(service, 'lakeside-core');
  await core.post('/digitalbanking/core/v1/heartbeat', {});
  await setCorePolicy(service, { mode: 'MEMO', memoUpTo: 500 });
});
after(() => service.close());

let orders = 0;
async function place(more: object = {}) {
  const order = {
    id: `memo-${++orders}`,
    fromAccountId: checking,
    toAccountId: savings,
    amount: 1.25,
    ...more,
  };
  return (await member.post(paths.transfers, order, { prefer: 'wait=0' })).body;
}
const current = async (accountId: string): Promise<number> =>
  (await bank.get(`${paths.accounts}/${accountId}`)).body.balance.currentBalance.amount;
const read = async (id: string) => (await bank.get(`${paths.transfers}/${id}`)).body;

test('completes within a membership at once, and tells the core', async () => {
  const { id, status } = await place();
  assert.equal(status, 'COMPLETED');
  const [instruction] = await core.take();
  assert.equal(instruction.id, id);
  const reported = await core.accept(id);
  assert.equal(reported.body.transferStatus, 'COMPLETED');
  assert.deepEqual(await core.take(), []);
});

test('waits above the ceiling of the memo, and between two memberships', async () => {
  const above = await place({ amount: 5.01 });
  const apart = await place({ toAccountId: 'a-1001-checking' });
  assert.deepEqual([above.status, apart.status], ['PENDING', 'PENDING']);
  for (const { id } of await core.take()) await core.accept(id);
});

test('takes a rejected transfer back, once, with the reason in an event', async () => {
  const before = [await current(checking), await current(savings)];
  const { id } = await place();
  await core.take();
  const reported = await core.reject(id);
  assert.equal(reported.body.transferStatus, 'COMPLETED');
  assert.equal((await core.reject(id)).status, 200);
  assert.deepEqual([await current(checking), await current(savings)], before);
  const { reversedBy } = await read(id);
  assert.equal((await read(reversedBy)).reverses, id);
  // The feed shows an event once all transactions that began before its own have ended.
  const told = await eventually(
    async () =>
      (await bank.get('/digitalbanking/db-events/v1/events?limit=200')).body.filter(
        ({ transfer }: { transfer?: { id: string } }) => transfer?.id === reversedBy,
      ),
    (events) => events.length > 0,
  );
  assert.deepEqual(
    told.map(({ data }: { data: object }) => data),
    [{ reverses: id, operator: null, code: 'NSF', reason: 'No funds.' }],
  );
  assert.deepEqual(await core.take(), []);
  const [audited] = await service.db.superuser<{ count: string }>(
    `select count(*) from audit_entries where action = 'transfer.core_rejected' and subject = $1`,
    [id],
  );
  assert.equal(Number(audited?.count), 1);
});

test('takes a rejected transfer back even below the floor of the payee', async () => {
  const { id } = await place({ fromAccountId: savings, toAccountId: checking });
  await core.take();
  const left = await current(checking);
  const gone = await place({ amount: left - 1, toAccountId: 'a-1001-checking' });
  assert.equal(gone.status, 'PENDING');
  await core.reject(id);
  const { availableBalance } = (await bank.get(`${paths.accounts}/${checking}`)).body.balance;
  assert.equal(availableBalance.amount, -0.25);
  const [event] = await service.db.superuser<{ below: boolean }>(
    `select (data ->> 'belowFloor')::boolean as below from outbox where data ->> 'reverses' = $1`,
    [id],
  );
  assert.equal(event?.below, true);
  await core.take();
  await core.reject(gone.id);
});

test('reads the policies of the core, and refuses those that contradict themselves', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'core-rules-'));
  const header =
    'transfer_type,currency,review_above,second_approval_above,review_seconds,on_review_timeout,cut_off,payment_options';
  const core = 'core_policy,memo_up_to,core_wait_seconds,stand_in';
  const write = (line: string) =>
    writeFileSync(
      path.join(folder, 'transfer-policies.csv'),
      `${header},${core}\nSTANDARD,USD,,,,,,,${line}\n`,
    );
  try {
    write('MEMO,250.00,600,DECLINE');
    const { policies } = await readTransferRules(folder);
    assert.deepEqual(policies[0]?.core, {
      mode: 'MEMO',
      memoUpToMinor: 25_000n,
      waitSeconds: 600,
      standIn: 'DECLINE',
    });
    write('WAIT,250.00,,');
    await assert.rejects(readTransferRules(folder), /memo_up_to/);
    write(',,0,');
    await assert.rejects(readTransferRules(folder), /core_wait_seconds/);
    rmSync(path.join(folder, 'transfer-policies.csv'));
    const limits =
      'limit_key,subject,period,transfer_type,source_type,currency,max_per_transfer,max_amount,max_count';
    writeFileSync(path.join(folder, 'transfer-limits.csv'), `${limits}\n7,STAND_IN,MONTH,,,USD,,1000.00,\n`);
    await assert.rejects(readTransferRules(folder), /stand-in limit of the period DAY/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
