import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { reverseTransfer } from '../../src/transfers/index.ts';
import { aConnector, type Connector, startCoreService } from '../support/core-instructions.ts';
import { clientOf, type DemoCaller, paths } from '../support/demo.ts';
import { deskOf } from '../support/desk.ts';
import { commandOf } from '../support/operator.ts';

/* Leases: two connectors never work on one account, and no instruction is lost with a connector. */

let now = new Date();
let service: Awaited<ReturnType<typeof startCoreService>>;
let bank: DemoCaller;
let one: Connector;
let other: Connector;
before(async () => {
  service = await startCoreService({ clock: () => now });
  bank = await clientOf(service);
  one = await aConnector(service, 'lakeside-core-1');
  other = await aConnector(service, 'lakeside-core-2');
});
after(() => service.close());

const ours = ['a-1001-checking', 'a-1001-savings'] as const;
const theirs = ['a-1005-checking', 'a-1005-savings'] as const;
let orders = 0;
async function place([fromAccountId, toAccountId]: readonly [string, string]): Promise<string> {
  const id = `lease-${++orders}`;
  const answer = await bank.post(
    paths.transfers,
    { id, fromAccountId, toAccountId, amount: 1 },
    { prefer: 'wait=0' },
  );
  assert.equal(answer.body.status, 'PENDING', answer.text);
  return id;
}
const ids = (instructions: readonly { id: string }[]) => instructions.map(({ id }) => id);

beforeEach(async () => {
  now = new Date(now.getTime() + 120_000);
  for (const { id } of await one.take()) await one.accept(id);
});

test('gives an account to one connector, and another account to the other', async () => {
  const first = await place(ours);
  assert.deepEqual(ids(await one.take()), [first]);
  const next = await place([ours[1], ours[0]]);
  const apart = await place(theirs);
  assert.deepEqual(ids(await other.take()), [apart]);
  assert.deepEqual(ids(await one.take()), [first, next]);
  assert.deepEqual(ids(await other.take()), [apart]);
  await one.accept(first);
  assert.deepEqual(ids(await one.take()), [next]);
  await other.accept(apart);
});

test('blocks the accounts of an instruction that is passed over', async () => {
  const first = await place(ours);
  assert.deepEqual(ids(await one.take('?limit=1')), [first]);
  await place([ours[1], theirs[0]]);
  await place(theirs);
  assert.deepEqual(await other.take(), []);
});

test('gives the same instruction to two connectors that ask at once only once', async () => {
  const placed = [await place(ours), await place(theirs)];
  const taken = await Promise.all([one.take('?limit=1'), other.take('?limit=1'), one.take('?limit=1')]);
  const [first, second, third] = taken.map(ids);
  assert.deepEqual(first, third);
  assert.deepEqual([first, second].flat().sort(), placed.sort());
  for (const id of second ?? []) await other.accept(id);
});

test('sends an instruction again to a client that has lost the answer, and not to one that has it', async () => {
  const id = await place(ours);
  const [{ sequence }] = await one.take();
  assert.deepEqual(ids(await one.take(`?after=${sequence - 1}`)), [id]);
  assert.deepEqual(await one.take(`?after=${sequence}`), []);
});

test('gives the instructions of a silent connector to another after a minute, and takes the late outcome', async () => {
  const id = await place(ours);
  await one.take();
  now = new Date(now.getTime() + 59_000);
  assert.deepEqual(await other.take(), []);
  now = new Date(now.getTime() + 1_000);
  assert.deepEqual(ids(await other.take()), [id]);
  assert.deepEqual(await one.take(), []);
  assert.equal((await one.accept(id)).status, 200);
  assert.equal((await other.accept(id)).status, 200);
});

test('ignores a lease that a clock ahead of its time has given', async () => {
  const id = await place(ours);
  now = new Date(now.getTime() + 3_600_000);
  await one.take();
  now = new Date(now.getTime() - 3_600_000);
  assert.deepEqual(ids(await other.take()), [id]);
  await other.accept(id);
});

test('wakes a connector that waits, and ends its wait when nothing comes', async () => {
  const waiting = one.take('?wait=20');
  const id = await place(ours);
  assert.deepEqual(ids(await waiting), [id]);
  await one.accept(id);
  const began = performance.now();
  assert.deepEqual(await one.take('?wait=1'), []);
  assert.ok(performance.now() - began >= 990);
});

test('shows nothing of it to a connector of another institution', async () => {
  const id = await place(ours);
  await service.db.superuser(
    "update clients set scopes = scopes || '{core:read}' where client_id = 'harbor-app'",
  );
  const harbor = await clientOf(service, ['harbor-app', 'harbor-app-secret']);
  assert.deepEqual((await harbor.get('/digitalbanking/core/v1/instructions')).body, []);
  const outcome = `/digitalbanking/core/v1/instructions/${id}/outcome`;
  assert.equal((await harbor.post(outcome, { outcome: 'ACCEPTED' })).status, 404);
});

test('keeps leases whole in the database', async () => {
  await place(ours);
  const lease = service.db.superuser(
    "update core_instructions set leased_by = 'one', delivered_at = now() where state = 'OPEN'",
  );
  await assert.rejects(lease, /core_instructions_lease/);
  const undelivered = service.db.superuser(
    "update core_instructions set leased_by = 'one', lease_until = now() where state = 'OPEN'",
  );
  await assert.rejects(undelivered, /core_instructions_delivered/);
});

test('an instruction has the memo of its order, and one of a reversal the transfer that it reverses', async () => {
  const [fromAccountId, toAccountId] = ours;
  const order = { id: 'lease-with-memo', fromAccountId, toAccountId, amount: 1, memo: 'For the boat' };
  await bank.post(paths.transfers, order, { prefer: 'wait=0' });
  const [instruction] = await one.take();
  assert.equal(instruction?.memo, 'For the boat');
  await one.accept('lease-with-memo');
  await using desk = await deskOf(service);
  const reversal = { originalId: 'lease-with-memo', transferId: 'lease-back', origin: commandOf('olga') };
  assert.equal((await reverseTransfer(desk.desk, service.institutionId, reversal)).kind, 'new');
  const [back] = await one.take();
  assert.deepEqual([back?.id, back?.reverses], ['lease-back', 'lease-with-memo']);
  await one.accept('lease-back');
});
