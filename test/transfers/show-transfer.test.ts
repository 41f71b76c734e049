import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runCli } from '../support/cli.ts';
import { clientOf, type DemoCaller, memberOf, paths } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let member: DemoCaller;
before(async () => {
  service = await startTestService();
  member = await memberOf(service, 'demo.member', 'demo-member-password');
});
after(() => service.close());

const show = (id: string, ...more: string[]) =>
  runCli(service.db, ['transfer', 'show', id, '--institution', 'harbor', ...more]);
const lakeside = (id: string, ...more: string[]) =>
  runCli(service.db, ['transfer', 'show', id, '--institution', 'lakeside', ...more]);

test('shows a completed transfer with both entries, as a table and as JSON', async () => {
  const order = {
    id: 'shown-1',
    fromAccountId: 'a-1001-checking',
    toAccountId: 'a-1001-savings',
    amount: 12.5,
    memo: 'rent',
  };
  const answer = await member.post(paths.transfers, order, { transactionId: 'request-of-shown-1' });
  assert.equal(answer.status, 201);
  const table = await lakeside('shown-1');
  assert.equal(table.code, 0, table.stderr);
  assert.match(table.stdout, /^status +COMPLETED$/m);
  assert.match(table.stdout, /^amount +12\.50 USD$/m);
  assert.match(table.stdout, /^request +request-of-shown-1$/m);
  assert.match(
    table.stdout,
    /^FUNDS +PASSED +available [\d.]+ USD, floor -?[\d.]+ USD +[\d.]+ USD +STORED$/m,
  );
  assert.match(table.stdout, /^a-1001-checking +\d+ +TRANSFER +-12\.50 USD/m);
  assert.match(table.stdout, /^a-1001-savings +\d+ +TRANSFER +12\.50 USD/m);
  assert.doesNotMatch(table.stdout, /decided/);
  const timed = await lakeside('shown-1', '--timing');
  assert.match(timed.stdout, /\+\d+ ms +posted on both accounts/);
  assert.match(timed.stdout, /"transactionId":"request-of-shown-1"/);
  const json = JSON.parse((await lakeside('shown-1', '--json')).stdout);
  assert.equal(json.status, 'COMPLETED');
  assert.equal(json.memo, 'rent');
  assert.equal(json.clientId, 'demo-app');
  assert.deepEqual(
    json.entries.map(({ accountId, amount }: Record<string, string>) => `${accountId} ${amount}`).sort(),
    ['a-1001-checking -12.50', 'a-1001-savings 12.50'],
  );
});

test('shows why an order was declined, and that no money moved', async () => {
  const order = {
    id: 'shown-2',
    fromAccountId: 'a-1001-checking',
    toAccountId: 'a-1001-savings',
    amount: 9_000_000,
  };
  assert.equal((await member.post(paths.transfers, order)).status, 422);
  const { stdout } = await lakeside('shown-2');
  assert.match(stdout, /^status +FAILED, insufficient_funds$/m);
  assert.match(stdout, /No entry: no money moved\./);
  assert.match(stdout, /^FUNDS +REFUSED +available [\d.]+ USD +RECOMPUTED$/m);
  assert.match(stdout, /^REVIEW +NOT_ASKED *$/m);
});

test('shows the hold, the approvals and the steps of a transfer under review', async () => {
  const harbor = await clientOf(service, ['harbor-app', 'harbor-app-secret']);
  const order = {
    id: 'shown-3',
    fromAccountId: 'a-1002-checking',
    toAccountId: 'a-1001-checking',
    amount: 1600,
  };
  assert.equal((await harbor.post(paths.transfers, order)).body.status, 'PENDING');
  const held = await show('shown-3', '--timing');
  assert.match(held.stdout, /^held for +REVIEW, expires /m);
  assert.match(held.stdout, /^approvals +none \(of 2\)$/m);
  assert.match(held.stdout, /held on both accounts/);
  assert.match(held.stdout, /\+\d+ ms +due: expires/);
  for (const operator of ['Ops One', 'Ops Two']) {
    const approved = await runCli(service.db, [
      ...['transfer', 'approve', 'shown-3', '--as', operator, '--institution', 'harbor'],
    ]);
    assert.equal(approved.code, 0, approved.stderr);
  }
  const { steps, status, approvals } = JSON.parse((await show('shown-3', '--json')).stdout);
  assert.equal(status, 'COMPLETED');
  assert.equal(approvals.length, 2);
  const names = steps.map(({ step }: { step: string }) => step);
  assert.deepEqual(names.slice(0, 3), ['decided', 'held on both accounts', 'approved by Ops One']);
  assert.equal(names.at(-1), 'COMPLETED');
});

test('refuses an id that the institution does not have', async () => {
  const { code, stderr } = await show('no-such-transfer');
  assert.equal(code, 1);
  assert.match(stderr, /does not exist in this institution/);
});
