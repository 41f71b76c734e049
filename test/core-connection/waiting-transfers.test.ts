import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runCli } from '../support/cli.ts';
import { aConnector, type Connector, startCoreService } from '../support/core-instructions.ts';
import { type DemoCaller, memberOf, paths } from '../support/demo.ts';

/* WAIT: a transfer is held until the core has decided on its instruction. */

const [checking, savings] = ['a-1005-checking', 'a-1005-savings'];
let service: Awaited<ReturnType<typeof startCoreService>>;
let member: DemoCaller;
let core: Connector;
before(async () => {
  service = await startCoreService();
  member = await memberOf(service, 'juniper.two', 'juniper-two-lantern-5');
  core = await aConnector(service, 'lakeside-core');
  await core.post('/digitalbanking/core/v1/heartbeat', {});
});
after(() => service.close());

let orders = 0;
const order = (more: object = {}) => ({
  id: `wait-${++orders}`,
  fromAccountId: checking,
  toAccountId: savings,
  amount: 1.25,
  ...more,
});
const atOnce = { prefer: 'wait=0' };
const balance = async (accountId: string) =>
  (await member.get(`${paths.accounts}/${accountId}`)).body.balance;
const read = async (id: string) => (await member.get(`${paths.transfers}/${id}`)).body;

test('holds a transfer until the core accepts it, and then completes it', async () => {
  const asked = order();
  const before = await balance(checking);
  const placed = await member.post(paths.transfers, asked, atOnce);
  assert.equal(placed.status, 201);
  assert.equal(placed.body.status, 'PENDING');
  assert.equal(placed.headers.get('preference-applied'), 'wait=0');
  const held = await balance(checking);
  assert.equal(held.currentBalance.amount, before.currentBalance.amount);
  assert.equal(held.availableBalance.amount, before.availableBalance.amount - asked.amount);

  const [instruction, ...others] = await core.take();
  assert.deepEqual(others, []);
  const { sequence, leaseUntil, orderedAt, businessDate, ...rest } = instruction;
  assert.deepEqual(rest, {
    id: asked.id,
    type: 'STANDARD',
    fromAccountId: checking,
    toAccountId: savings,
    amount: 1.25,
    currencyCode: 'USD',
  });
  assert.ok(sequence > 0 && Date.parse(leaseUntil) > Date.now());
  assert.equal(orderedAt, placed.body.createdAt);
  assert.match(businessDate, /^\d{4}-\d\d-\d\d$/);

  const reported = await core.accept(asked.id);
  assert.deepEqual(reported.body, { id: asked.id, outcome: 'ACCEPTED', transferStatus: 'COMPLETED' });
  assert.equal((await read(asked.id)).status, 'COMPLETED');
  const posted = await balance(checking);
  assert.equal(posted.currentBalance.amount, before.currentBalance.amount - asked.amount);
  assert.deepEqual(await core.take(), []);
});

test('shows operators the outcome of the core with its receipt, and the steps between', async () => {
  const [accepted, refused] = [order(), order()];
  for (const one of [accepted, refused]) await member.post(paths.transfers, one, atOnce);
  await core.take();
  await core.accept(accepted.id);
  await core.reject(refused.id);
  const shown = async (id: string, ...more: string[]) =>
    (await runCli(service.db, ['transfer', 'show', id, '--institution', 'lakeside', ...more])).stdout;
  const yes = JSON.parse(await shown(accepted.id, '--json'));
  assert.deepEqual(
    [yes.core.mode, yes.core.state, yes.core.coreReference, yes.core.decidedBy],
    ['WAIT', 'ACCEPTED', `core-${accepted.id}`, 'lakeside-core'],
  );
  const steps = yes.steps.map(({ step }: { step: string }) => step);
  for (const step of ['instruction to the core issued', 'fetched for the core', 'accepted by the core'])
    assert.ok(steps.includes(step), step);
  assert.deepEqual(
    yes.events.map(({ eventType }: { eventType: string }) => eventType),
    ['transfer.pending', 'transfer.completed'],
  );
  const no = await shown(refused.id);
  assert.match(no, /^core +rejected \(WAIT, NSF, No funds\., reported by lakeside-core\)$/m);
  assert.doesNotMatch(no, /receipt/);
});

test('fails a transfer that the core rejects, and releases its hold', async () => {
  const asked = order();
  const before = await balance(checking);
  await member.post(paths.transfers, asked, atOnce);
  await core.take();
  const reported = await core.reject(asked.id);
  assert.equal(reported.body.transferStatus, 'FAILED');
  assert.equal((await read(asked.id)).failureCode, 'core_rejected');
  assert.deepEqual(await balance(checking), before);
  const repeated = await member.post(paths.transfers, asked);
  assert.equal(repeated.status, 422);
  assert.equal(repeated.body.code, 'core_rejected');
});

test('waits for the core, so that the response has its decision', async () => {
  const accepted = order();
  const placing = member.post(paths.transfers, accepted);
  const [first] = await core.take('?wait=5');
  await core.accept(first.id);
  const placed = await placing;
  assert.equal(placed.status, 201);
  assert.equal(placed.body.status, 'COMPLETED');
  assert.equal(placed.headers.get('preference-applied'), null);

  const refused = order();
  const refusing = member.post(paths.transfers, refused, { prefer: 'respond-async, wait=10' });
  const [second] = await core.take('?wait=5');
  await core.reject(second.id);
  const declined = await refusing;
  assert.equal(declined.status, 422);
  assert.equal(declined.body.code, 'core_rejected');
  assert.equal(declined.body.transfer.id, refused.id);
});

test('returns a repeated order at once, in its present state', async () => {
  const asked = order();
  await member.post(paths.transfers, asked, atOnce);
  const began = performance.now();
  const repeated = await member.post(paths.transfers, asked);
  assert.ok(performance.now() - began < 4_000);
  assert.equal(repeated.status, 200);
  assert.equal(repeated.body.status, 'PENDING');
  await core.take();
  await core.accept(asked.id);
});

test('takes an outcome twice, and refuses the other one', async () => {
  const asked = order();
  await member.post(paths.transfers, asked, atOnce);
  await core.take();
  const first = await core.accept(asked.id);
  const again = await core.accept(asked.id);
  assert.deepEqual([again.status, again.body], [200, first.body]);
  const other = await core.reject(asked.id);
  assert.deepEqual([other.status, other.body.code], [409, 'instruction_decided']);
  assert.equal((await read(asked.id)).status, 'COMPLETED');
  const unknown = await core.accept('no-such-instruction');
  assert.equal(unknown.status, 404);
});

test('cancels a transfer until a connector has fetched it, and not afterwards', async () => {
  const early = order();
  await member.post(paths.transfers, early, atOnce);
  const cancelled = await member.post(`${paths.transfers}/${early.id}/cancel`, {});
  assert.equal(cancelled.body.failureCode, 'transfer_cancelled');
  assert.deepEqual(await core.take(), []);
  assert.equal((await core.accept(early.id)).status, 409);

  const late = order();
  await member.post(paths.transfers, late, atOnce);
  await core.take();
  const refused = await member.post(`${paths.transfers}/${late.id}/cancel`, {});
  assert.deepEqual([refused.status, refused.body.code], [409, 'transfer_with_core']);
  await core.accept(late.id);
  assert.equal((await read(late.id)).status, 'COMPLETED');
});

test('takes the echo of a held transfer as its acceptance, if account and amount fit', async () => {
  const asked = order();
  await member.post(paths.transfers, asked, atOnce);
  await core.take();
  const echo = (id: string, accountId: string, amount: number) =>
    core.post('/digitalbanking/core/v1/transactions', {
      id,
      accountId,
      amount,
      currencyCode: 'USD',
      kind: 'TRANSFER',
      postedAt: new Date().toISOString(),
      description: 'Transfer',
      transferId: asked.id,
    });
  for (const [id, accountId, amount] of [
    ['echo-credit', savings, 1.25],
    ['echo-other', checking, -1.26],
  ] as const) {
    assert.match((await echo(id, accountId, amount)).text, /transfer_not_completed/);
    assert.equal((await read(asked.id)).status, 'PENDING');
  }
  assert.match((await echo('echo-debit', checking, -1.25)).text, /"result":"echo"/);
  assert.equal((await read(asked.id)).status, 'COMPLETED');
  assert.match((await echo('echo-credit', savings, 1.25)).text, /"result":"echo"/);
  assert.equal((await core.accept(asked.id)).status, 200);
  const [row] = await service.db.superuser<{ reference: string }>(
    'select core_reference as reference from core_instructions order by sequence desc limit 1',
  );
  assert.equal(row?.reference, 'echo-debit');
});

test('a dry run tells that the transfer waits for the core', async () => {
  const { id: _, ...asked } = order();
  const { body } = await member.post(`${paths.transfers}/dry-run`, asked);
  assert.equal(body.transfer.status, 'PENDING');
  assert.deepEqual(
    body.reasons.map(({ code }: { code: string }) => code),
    ['core'],
  );
});

test('leaves institutions whose own ledger is the record as they are', async () => {
  const harbor = await memberOf(service, 'demo.member', 'harbor-member-password', [
    'harbor-app',
    'harbor-app-secret',
  ]);
  const [from, to] = (await harbor.get(paths.accounts)).body
    .filter(({ category }: { category: string }) => category === 'DEPOSIT')
    .map(({ accountId }: { accountId: string }) => accountId);
  const placed = await harbor.post(paths.transfers, { fromAccountId: from, toAccountId: to, amount: 1 });
  assert.equal(placed.body.status, 'COMPLETED');
});
