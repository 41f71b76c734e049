import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { reconcile } from '../../src/reconciliation/index.ts';
import { commandsOn } from '../support/commands.ts';
import { connectorOf } from '../support/core.ts';
import { aConnector, type Connector, setCorePolicy, startCoreService } from '../support/core-instructions.ts';
import { clientOf, type DemoCaller, memberOf, paths } from '../support/demo.ts';

/* Changes that come while a transfer waits for the core: locked members, closed accounts, reviews, operators. */

const [checking, savings] = ['a-1005-checking', 'a-1005-savings'];
let service: Awaited<ReturnType<typeof startCoreService>>;
let run: ReturnType<typeof commandsOn>;
let bank: DemoCaller;
let core: Connector;
before(async () => {
  service = await startCoreService();
  run = commandsOn(service.db);
  bank = await clientOf(service);
  core = await aConnector(service, 'lakeside-core');
  await core.post('/digitalbanking/core/v1/heartbeat', {});
});
after(() => service.close());

let orders = 0;
async function place(caller: DemoCaller, more: object = {}): Promise<string> {
  const order = {
    id: `held-${++orders}`,
    fromAccountId: checking,
    toAccountId: savings,
    amount: 1.25,
    ...more,
  };
  const answer = await caller.post(paths.transfers, order, { prefer: 'wait=0' });
  assert.equal(answer.body.status, 'PENDING', answer.text);
  return order.id;
}
const read = async (id: string) => (await bank.get(`${paths.transfers}/${id}`)).body;

async function findings(): Promise<string[]> {
  const found: string[] = [];
  await reconcile(service.service.context.database, service.institutionId, {
    // The clock of business was moved.
    at: new Date(Date.now() + 5 * 86_400_000),
    onFinding: ({ check, row, detail }) => found.push(`${check}: ${row} ${detail}`),
  });
  return found;
}

test('the word of the core counts for a member who was locked meanwhile', async () => {
  const member = await memberOf(service, 'juniper.two', 'juniper-two-lantern-5');
  const accepted = await place(member);
  const rejected = await place(member);
  await core.take();
  await service.db.superuser(`update users set locked_by_operator = true where username = 'juniper.two'`);
  assert.equal((await core.accept(accepted)).body.transferStatus, 'COMPLETED');
  assert.equal((await core.reject(rejected)).body.transferStatus, 'FAILED');
  await service.db.superuser(`update users set locked_by_operator = false where username = 'juniper.two'`);
});

test('the word of the core counts for an account that a record closed meanwhile', async () => {
  const records = await connectorOf(service);
  const status = async (word: 'open' | 'closed') => {
    const answers = await records.deliverRecords([{ record: 'account', accountId: savings, status: word }]);
    assert.equal(answers[0]?.result, 'changed');
  };
  const accepted = await place(bank);
  const rejected = await place(bank);
  await core.take();
  await status('closed');
  const refused = await bank.post(paths.transfers, {
    fromAccountId: checking,
    toAccountId: savings,
    amount: 1,
  });
  assert.equal(refused.body.code, 'account_closed', refused.text);
  assert.equal((await core.accept(accepted)).body.transferStatus, 'COMPLETED');
  assert.equal((await core.reject(rejected)).body.transferStatus, 'FAILED');
  await status('open');
});

test('a review comes first, then the core, and the transfer completes after both', async () => {
  await setCorePolicy(service, { reviewAbove: 100 });
  const id = await place(bank);
  assert.deepEqual(await core.take(), []);
  const early = await core.accept(id);
  assert.equal(early.status, 404, early.text);
  const approved = await run('transfer', 'approve', id, '--institution', 'lakeside');
  assert.equal(approved.code, 0, approved.stderr);
  assert.equal((await read(id)).status, 'PENDING');
  const [instruction] = await core.take();
  assert.equal(instruction.id, id);
  assert.equal((await core.accept(id)).body.transferStatus, 'COMPLETED');
});

test('a review comes first, then the cut-off, then the core', async () => {
  await setCorePolicy(service, { reviewAbove: 100, cutOff: '00:00' });
  const id = await place(bank);
  const approved = await run('transfer', 'approve', id, '--institution', 'lakeside');
  assert.equal(approved.code, 0, approved.stderr);
  assert.deepEqual(await core.take(), []);
  assert.equal((await read(id)).status, 'PENDING');
  // Past a weekend and a holiday.
  const moved = await run('demo', 'clock', '+5d', '--institution', 'lakeside');
  assert.equal(moved.code, 0, moved.stderr);
  const [instruction] = await core.take('?wait=20');
  assert.equal(instruction.id, id);
  assert.equal((await core.accept(id)).body.transferStatus, 'COMPLETED');
});

test('a transfer that an operator approves while the core is away waits for the core', async () => {
  await setCorePolicy(service, { reviewAbove: 100 });
  const id = await place(bank);
  await service.db.superuser(`update core_connections set heard_at = heard_at - interval '1 hour'`);
  const approved = await run('transfer', 'approve', id, '--institution', 'lakeside');
  assert.equal(approved.code, 0, approved.stderr);
  assert.equal((await read(id)).status, 'PENDING');
  await core.take();
  assert.equal((await core.accept(id)).body.transferStatus, 'COMPLETED');
});

test('reconcile finds an instruction that does not fit its transfer, and a transfer without its instruction', async () => {
  assert.deepEqual(await findings(), []);
  const [row] = await service.db.superuser<{ key: bigint; id: string }>(
    `select instruction_key as key, transfer_id as id from core_instructions
     join transfers on transfer_key = instruction_key where state = 'ACCEPTED' limit 1`,
  );
  const damage = (statement: string) =>
    service.db.superuser(`do $$ begin set local session_replication_role = replica; ${statement}; end $$`);
  await damage(`update core_instructions set amount = amount + 1 where instruction_key = ${row?.key}`);
  assert.match(
    (await findings()).join('\n'),
    new RegExp(`core-instruction: ${row?.id} is COMPLETED, and its instruction is`),
  );
  await damage(`delete from core_instructions where instruction_key = ${row?.key}`);
  assert.match((await findings()).join('\n'), new RegExp(`core-instruction: ${row?.id} .*no instruction`));
});
