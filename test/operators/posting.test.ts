import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connectorOf, purchase } from '../support/core.ts';
import { clientOf, paths } from '../support/demo.ts';
import { demoAddress, operatorOf, type TestOperator } from '../support/operators.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* An entry of an account leads to its posting, with the entry on the other side. */

interface ShownEntry {
  readonly entry: number;
  readonly kind: string;
  readonly amount: string;
  readonly transferId: string | null;
}
interface Side {
  readonly accountId: string;
  readonly isInternal: boolean;
  readonly amount: string;
  readonly entry: number;
}

const accountId = 'a-1001-checking';
let service: TestService;
let viewer: TestOperator;

before(async () => {
  service = await startTestService({ environment: demoAddress });
  viewer = await operatorOf(service, 'Demo viewer');
  const core = await connectorOf(service);
  await core.deliver([
    purchase('post-1', { accountId, amount: -12.34, description: 'Hilltop Fuel' }),
    purchase('post-2', { accountId, amount: -5, description: 'Pine Books' }),
    purchase('post-held', { accountId, amount: -45, status: 'AUTHORIZED' }),
  ]);
  const client = await clientOf(service);
  const order = { id: 'posting-1', fromAccountId: accountId, toAccountId: 'a-1001-savings', amount: 3 };
  assert.equal((await client.post(paths.transfers, order)).body.status, 'COMPLETED');
});
after(() => service.close());

const entries = async (): Promise<ShownEntry[]> =>
  (await viewer.get(`/accounts/${accountId}/entries?limit=200`)).body;
const posting = (entry: number | string, operator = viewer) =>
  operator.get(`/accounts/${accountId}/entries/${entry}`);
const cents = (text: string) => BigInt(text.replace('.', ''));

test('shows the entry of a core’s transaction with the entry of its settlement account, and what the core says', async () => {
  const found = (await entries()).find(({ kind, amount }) => kind === 'CORE' && amount === '-12.34');
  assert.ok(found !== undefined);
  const { body } = await posting(found.entry);
  assert.deepEqual(
    body.sides.map(({ accountId: id, isInternal, amount }: Side) => [id, isInternal, amount]),
    [
      [accountId, false, '-12.34'],
      ['internal:core-card:USD', true, '12.34'],
    ],
  );
  assert.deepEqual(
    [body.core.transactionId, body.core.kind, body.core.description, body.transferId],
    ['post-1', 'CARD', 'Hilltop Fuel', null],
  );
});

test('shows both sides of each entry of an account, which sum to zero', async () => {
  const all = await entries();
  const kinds = new Set(all.map(({ kind }) => kind));
  for (const kind of ['OPENING', 'CORE', 'CORE_HOLD', 'TRANSFER']) assert.ok(kinds.has(kind), kind);
  for (const { entry, kind, transferId } of all) {
    const { body } = await posting(entry);
    const sides: Side[] = body.sides;
    assert.equal(sides.length, 2, `entry ${entry}, ${kind}`);
    assert.deepEqual([body.kind, body.transferId], [kind, transferId]);
    assert.equal(
      sides.reduce((sum, { amount }) => sum + cents(amount), 0n),
      0n,
      `entry ${entry}, ${kind}`,
    );
    assert.ok(sides.some((side) => side.accountId === accountId && side.entry === entry));
    assert.equal(sides.filter(({ isInternal }) => isInternal).length, transferId === null ? 1 : 0);
  }
});

test('audits the read of a posting, and refuses entries and accounts that are not there, and other roles and institutions', async () => {
  const reads = async () =>
    (
      await service.db.superuser(
        `select from audit_entries where action = 'account.read' and reason = 'entries' and subject = '${accountId}'`,
      )
    ).length;
  const before = await reads();
  assert.equal((await posting(1)).status, 200);
  assert.equal(await reads(), before + 1);
  for (const entry of ['0', '01', '-1', '1.0', 'one', '999999', '9'.repeat(40), '1;2'])
    assert.equal((await posting(entry)).status, 404, entry);
  for (const id of ['no-such', 'internal:core-card:USD'])
    assert.equal((await viewer.get(`/accounts/${encodeURIComponent(id)}/entries/1`)).status, 404, id);
  assert.equal((await posting(1, await operatorOf(service, 'Demo administrator'))).status, 403);
  assert.equal(await reads(), before + 1);
});
