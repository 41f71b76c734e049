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
  await settle();
  const before = await reads();
  assert.equal((await posting(1)).status, 200);
  assert.equal(await reads(), before + 1);
  for (const entry of ['0', '01', '-1', '1.0', 'one', '999999', '9'.repeat(40), '1;2'])
    assert.equal((await posting(entry)).status, 404, entry);
  for (const id of ['no-such', 'internal:core-wire:USD'])
    assert.equal((await viewer.get(`/accounts/${encodeURIComponent(id)}/entries/1`)).status, 404, id);
  assert.equal((await posting(1, await operatorOf(service, 'Demo administrator'))).status, 403);
  assert.equal(await reads(), before + 1);
});

/* The institution's own accounts have the same operations, and each of their entries leads to the account of a member. */

const ownIds = ['internal:core-card:USD', 'internal:core-settlement:USD', 'internal:funding:USD'];
/** The pages of entries that were read before are counted by then. */
const settle = () => service.service.context.auth.audit.settle();
const readsOf = async (subject: string) =>
  (
    await service.db.superuser(`select from audit_entries where action = 'account.read' and subject = $1`, [
      subject,
    ])
  ).length;

test('shows an account of the institution with its purpose, its entries and its balances, and no member', async () => {
  const [card = ''] = ownIds;
  const path = `/accounts/${encodeURIComponent(card)}`;
  const { body } = await viewer.get(path);
  assert.deepEqual(
    [body.accountId, body.purpose, body.memberNumber, body.currency, body.holders, body.pending],
    [card, 'CORE_CARD', null, 'USD', [], []],
  );
  // Credit is positive: a purchase leaves the member's account for this one. The authorization is expected to arrive.
  assert.deepEqual([body.balance, body.holdsIn, body.holdsOut], ['17.34', '45.00', '0.00']);
  const { body: listed } = await viewer.get(`${path}/entries`);
  assert.deepEqual(
    listed.map(({ kind, amount, balanceAfter }: Record<string, string>) => [kind, amount, balanceAfter]),
    [
      ['CORE_HOLD', '0.00', '17.34'],
      ['CORE', '5.00', '17.34'],
      ['CORE', '12.34', '12.34'],
    ],
  );
  const { body: history } = await viewer.get(`${path}/balances?days=2`);
  assert.deepEqual([history.currency, history.balances.at(-1).balance], ['USD', '17.34']);
  // It has no limits, and no act.
  assert.equal((await viewer.get(`${path}/limits`)).status, 404);
  const teller = await operatorOf(service, 'Demo teller');
  const administrator = await operatorOf(service, 'Demo administrator');
  const freeze = { restriction: 'EXCLUDE_ALL', reason: 'a test' };
  assert.equal((await teller.post(`${path}/restrict`, freeze)).status, 404);
  assert.equal((await administrator.post(`${path}/close`, { reason: 'a test' })).status, 404);
  assert.equal(await readsOf(card), 0);
});

test('the search finds an account of the institution by its id', async () => {
  const [card = ''] = ownIds;
  const { body } = await viewer.get(`/search?text=${encodeURIComponent(card)}`);
  assert.deepEqual(body.accounts, [{ accountId: card, accountType: 'CORE_CARD', memberNumber: null }]);
});

test('an entry of an account of the institution leads to the account of a member, with what the core says', async () => {
  const kinds = new Set<string>();
  for (const id of ownIds) {
    const path = `/accounts/${encodeURIComponent(id)}/entries`;
    for (const { entry, kind } of (await viewer.get(`${path}?limit=200`)).body as ShownEntry[]) {
      kinds.add(kind);
      const { status, body } = await viewer.get(`${path}/${entry}`);
      const of = `${id} ${entry} ${kind}`;
      assert.equal(status, 200, of);
      const sides: Side[] = body.sides;
      assert.deepEqual(
        sides.map(({ isInternal }) => isInternal),
        [false, true],
        of,
      );
      assert.equal(
        sides.reduce((sum, { amount }) => sum + cents(amount), 0n),
        0n,
        of,
      );
      assert.deepEqual([sides[1]?.accountId, sides[1]?.entry], [id, entry], of);
      // From the other side it is the same posting.
      const { accountId: other = '', entry: otherEntry = 0 } = sides[0] ?? {};
      assert.deepEqual((await viewer.get(`/accounts/${other}/entries/${otherEntry}`)).body, body, of);
    }
  }
  for (const kind of ['OPENING', 'CORE', 'CORE_HOLD']) assert.ok(kinds.has(kind), kind);
});

test('a posting of the core is found by its account of the institution if another clock was ahead', async () => {
  // An hour later than the facts beside it: too far for a clock, so it is searched as one without facts.
  const shift = async (to: string) =>
    service.db.superuser(
      `update core_transactions set recorded_at = recorded_at ${to} where core_id = 'post-2'`,
    );
  const card = `/accounts/${encodeURIComponent(ownIds[0] ?? '')}/entries/2`;
  const before = (await viewer.get(card)).body;
  assert.equal(before.core.transactionId, 'post-2');
  await shift(`- interval '30 seconds'`);
  assert.deepEqual((await viewer.get(card)).body, before);
  await shift(`- interval '1 hour'`);
  assert.deepEqual((await viewer.get(card)).body, { ...before, core: null });
  await shift(`+ interval '1 hour 30 seconds'`);
});

test('the audit records the account of the member behind an entry of the institution’s own', async () => {
  await settle();
  const before = await readsOf(accountId);
  const [card = ''] = ownIds;
  assert.equal((await viewer.get(`/accounts/${encodeURIComponent(card)}/entries/1`)).status, 200);
  assert.deepEqual([await readsOf(accountId), await readsOf(card)], [before + 1, 0]);
});

test('accounts of the institution are not shown to an administrator, nor to another institution, nor under another id', async () => {
  const administrator = await operatorOf(service, 'Demo administrator');
  const other = await operatorOf(service, 'Demo viewer', 'harbor');
  const [card = ''] = ownIds;
  for (const part of ['', '/entries', '/entries/1', '/balances']) {
    const path = `/accounts/${encodeURIComponent(card)}${part}`;
    assert.equal((await administrator.get(path)).status, 403, part);
    // The core has delivered no purchase there.
    assert.equal((await other.get(path)).status, 404, part);
    for (const id of [
      'internal:core-card:EUR',
      'internal:',
      'INTERNAL:CORE-CARD:USD',
      'internal:core-card:USD%00',
    ])
      assert.equal((await viewer.get(`/accounts/${id}${part}`)).status, 404, `${id}${part}`);
  }
});
