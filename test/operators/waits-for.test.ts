import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { aConnector, type Connector, setCorePolicy, startCoreService } from '../support/core-instructions.ts';
import { clientOf, type DemoCaller, paths } from '../support/demo.ts';
import { demoAddress, operatorOf, type TestOperator } from '../support/operators.ts';

let service: Awaited<ReturnType<typeof startCoreService>>;
let app: DemoCaller;
let core: Connector;
let one: TestOperator;
let two: TestOperator;
let viewer: TestOperator;

before(async () => {
  service = await startCoreService({ environment: demoAddress });
  core = await aConnector(service, 'lakeside-core');
  app = await clientOf(service, ['demo-app', 'demo-app-secret']);
  one = await operatorOf(service, 'Demo approver');
  two = await operatorOf(service, 'Second demo approver');
  viewer = await operatorOf(service, 'Demo viewer');
});
after(() => service.close());

const reason = { reason: 'called the member back' };

async function hold(id: string): Promise<void> {
  const order = { id, fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 12 };
  const answer = await app.post(paths.transfers, order);
  assert.equal(answer.body.status, 'PENDING', answer.text);
}

/** The transfer in the queue and on its own page, as this operator sees it. */
async function seenBy(operator: TestOperator, id: string) {
  const rows: { id: string }[] = (await operator.get('/pending')).body;
  // biome-ignore lint/suspicious/noExplicitAny: a document of the service
  const row = rows.find((row) => row.id === id) as any;
  const { pending } = (await operator.get(`/transfers/${id}`)).body;
  assert.deepEqual(
    [pending.heldFor, pending.isWithCore, pending.decisions],
    [row.heldFor, row.isWithCore, row.decisions],
  );
  return [row.heldFor, row.isWithCore, row.decisions.join(' ')];
}

async function refusals(id: string): Promise<string[]> {
  const rows = await service.db.superuser<{ reason: string }>(
    `select reason from audit_entries where subject = $1 and action = 'transfer.approved' and outcome = 'refused' order by audit_key`,
    [id],
  );
  return rows.map((row) => row.reason);
}

test('an approved transfer waits for the core and for no second person, and another approval of it is refused', async () => {
  await setCorePolicy(service, { reviewAbove: 1 });
  await hold('waits-core');
  assert.deepEqual(await seenBy(one, 'waits-core'), ['REVIEW', false, 'approve decline']);
  assert.deepEqual(await seenBy(viewer, 'waits-core'), ['REVIEW', false, '']);
  const first = await one.post('/transfers/waits-core/approve', reason);
  const { outcome, waitsFor, status } = first.body;
  assert.deepEqual([outcome, waitsFor, status], ['WAITS', 'CORE', 'PENDING'], JSON.stringify(first.body));
  assert.deepEqual(await seenBy(two, 'waits-core'), ['CORE', false, 'decline']);
  for (const again of [one, two]) {
    const answer = await again.post('/transfers/waits-core/approve', reason);
    assert.deepEqual([answer.status, answer.body.code], [409, 'act_refused']);
    assert.match(answer.body.detail, /needs no approval/);
  }
  assert.deepEqual(await refusals('waits-core'), ['not_in_review', 'not_in_review']);
  assert.ok((await core.take()).some(({ id }) => id === 'waits-core'));
  assert.deepEqual(await seenBy(two, 'waits-core'), ['CORE', true, '']);
  assert.equal((await two.post('/transfers/waits-core/decline', reason)).body.code, 'transfer_with_core');
  await core.accept('waits-core');
  const done = (await one.get('/transfers/waits-core')).body;
  assert.deepEqual([done.status, done.pending], ['COMPLETED', undefined]);
});

test('an approved transfer waits for its processing time, and another approval of it is refused', async () => {
  // Each moment of a day is after this cut-off.
  await setCorePolicy(service, { reviewAbove: 1, cutOff: '00:00' });
  await hold('waits-time');
  const first = await one.post('/transfers/waits-time/approve', reason);
  assert.deepEqual([first.body.outcome, first.body.waitsFor], ['WAITS', 'PROCESSING_TIME']);
  assert.deepEqual(await seenBy(two, 'waits-time'), ['REVIEW', false, 'decline']);
  assert.equal((await two.post('/transfers/waits-time/approve', reason)).body.code, 'act_refused');
  assert.deepEqual(await refusals('waits-time'), ['not_in_review']);
  assert.equal((await two.post('/transfers/waits-time/decline', reason)).body.status, 'FAILED');
});

test('a transfer that was never in review waits for its processing time, and may only be declined', async () => {
  await setCorePolicy(service, { cutOff: '00:00' });
  await hold('waits-day');
  assert.deepEqual(await seenBy(one, 'waits-day'), ['CUT_OFF', false, 'decline']);
  assert.equal((await one.post('/transfers/waits-day/approve', reason)).body.code, 'act_refused');
  assert.equal((await one.post('/transfers/waits-day/decline', reason)).body.status, 'FAILED');
});
