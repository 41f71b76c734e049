import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { reconcile } from '../../src/reconciliation/index.ts';
import { type Connector, connectorOf, purchase } from '../support/core.ts';
import { clientOf, paths } from '../support/demo.ts';
import { eventually } from '../support/desk.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let core: Connector;
let ahead = 0;
before(async () => {
  service = await startTestService({ clock: () => new Date(Date.now() + ahead) });
  core = await connectorOf(service);
});
after(() => service.close());

const accountId = 'a-1002-checking';
const results = (answers: readonly { result?: string; code?: string }[]) =>
  answers.flatMap(({ result, code }) => (result === undefined ? [] : [code ?? result]));
const authorization = (id: string, change: object = {}) =>
  purchase(id, { accountId, status: 'AUTHORIZED', amount: -45, description: 'Hilltop Fuel', ...change });

async function figures(): Promise<{ posted: number; held: number }> {
  const [row] = await service.db.superuser<{ posted: bigint; held: bigint }>(
    'select posted, debits_pending as held from balances where account_id = $1',
    [accountId],
  );
  return { posted: Number(row?.posted), held: Number(row?.held) };
}

/** The change of the posted balance and of the hold that the work makes. */
async function changeBy(work: () => Promise<unknown>): Promise<[posted: number, held: number]> {
  const before = await figures();
  await work();
  const after = await figures();
  return [after.posted - before.posted, after.held - before.held];
}

async function assertReconciled(): Promise<void> {
  const findings: object[] = [];
  const institutions = await service.db.superuser<{ institution_id: number }>(
    'select institution_id from institutions',
  );
  for (const { institution_id } of institutions) {
    await reconcile(service.db.database, institution_id as never, {
      onFinding: (finding) => findings.push(finding),
      at: new Date(Date.now() + ahead),
    });
  }
  assert.deepEqual(findings, []);
}

describe('an authorization', () => {
  test('holds its amount until the posting that it announced', async () => {
    const hold = () => core.deliver([authorization('h-1')]);
    assert.deepEqual(await changeBy(hold), [0, 4_500]);
    assert.deepEqual(results(await hold()), ['already']);
    const settle = () =>
      core.deliver([purchase('s-1', { accountId, amount: -47.25, authorizationId: 'h-1' })]);
    assert.deepEqual(await changeBy(settle), [-4_725, -4_500]);
    assert.deepEqual(results(await core.deliver([authorization('h-1')])), ['already']);
    await assertReconciled();
  });

  test('changes its amount with newer news only', async () => {
    const at = (minute: number) => ({ postedAt: `2026-03-02T10:0${minute}:00Z` });
    await core.deliver([authorization('c-1', at(1))]);
    const change = (amount: number, minute: number) => () =>
      core.deliver([authorization('c-1', { status: 'CHANGED', amount, ...at(minute) })]);
    assert.deepEqual(await changeBy(change(-60, 3)), [0, 1_500]);
    assert.deepEqual(await changeBy(change(-50, 2)), [0, 0]);
    assert.deepEqual(results(await change(-61, 3)()), ['id_reused']);
    assert.deepEqual(await changeBy(change(-20, 4)), [0, -4_000]);
    assert.deepEqual(await changeBy(change(0, 5)), [0, -2_000]);
    assert.deepEqual(await changeBy(change(-20, 6)), [0, 0]);
    await assertReconciled();
  });

  test('is released once', async () => {
    await core.deliver([authorization('r-1')]);
    const release = {
      id: 'r-1',
      status: 'RELEASED',
      accountId,
      currencyCode: 'USD',
      postedAt: '2026-03-02T20:00:00Z',
    };
    assert.deepEqual(await changeBy(() => core.deliver([release])), [0, -4_500]);
    assert.deepEqual(results(await core.deliver([release])), ['already']);
  });

  test('holds nothing if its posting or its release has arrived before it', async () => {
    const late = () =>
      core.deliver([
        purchase('late-s', { accountId, amount: -45, authorizationId: 'late-1' }),
        authorization('late-1'),
        {
          id: 'late-2',
          status: 'RELEASED',
          accountId,
          currencyCode: 'USD',
          postedAt: '2026-03-02T20:00:00Z',
        },
        authorization('late-2'),
      ]);
    assert.deepEqual(await changeBy(late), [-4_500, 0]);
  });

  test('holds the amount of its newest news if they arrive in the wrong order', async () => {
    const reversed = () =>
      core.deliver([
        authorization('o-1', { status: 'CHANGED', amount: -70, postedAt: '2026-03-02T11:00:00Z' }),
        authorization('o-1', { postedAt: '2026-03-02T10:00:00Z' }),
      ]);
    assert.deepEqual(await changeBy(reversed), [0, 7_000]);
    assert.deepEqual(results(await core.deliver([authorization('o-1', { amount: -46 })])), ['id_reused']);
  });

  test('is refused for another account than its own', async () => {
    await core.deliver([authorization('a-1')]);
    const other = { accountId: 'a-1002-savings' };
    const answers = await core.deliver([
      authorization('a-1', { status: 'CHANGED', amount: -1, ...other }),
      purchase('a-2', { authorizationId: 'a-1', ...other }),
      authorization('a-1', other),
    ]);
    assert.deepEqual(results(answers), ['not_authorized', 'not_authorized', 'id_reused']);
  });

  test('must hold a positive amount of the account', async () => {
    const answers = await core.deliver([
      authorization('z-1', { amount: 45 }),
      authorization('z-2', { amount: 0 }),
      authorization('z-3', { transferId: 'x' }),
      purchase('z-4', { expiresAt: '2026-03-05T00:00:00Z' }),
    ]);
    assert.deepEqual(results(answers), Array(4).fill('invalid_line'));
  });

  test('ends by itself when its time is over, with one event for each change of the account', async () => {
    const now = new Date(Date.now() + ahead);
    const expiresAt = new Date(now.getTime() + 60_000).toISOString();
    const before = await figures();
    await core.deliver([authorization('e-1', { postedAt: now.toISOString(), expiresAt })]);
    assert.equal((await figures()).held, before.held + 4_500);
    ahead += 61_000;
    await eventually(figures, ({ held }) => held === before.held);
    const [row] = await service.db.superuser<{ ended: string }>(
      `select ended from core_authorizations where authorization_id = 'e-1'`,
    );
    assert.equal(row?.ended, 'EXPIRED');
    const events = await service.db.superuser<{ kind: string }>(
      `select kind from outbox where data ->> 'authorizationId' = 'e-1' order by event_key`,
    );
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ['account.held', 'account.released'],
    );
    const stale = { postedAt: now.toISOString(), expiresAt };
    assert.deepEqual(results(await core.deliver([authorization('e-2', stale)])), ['released']);
    await assertReconciled();
  });

  test('lowers the available balance of its account while it holds', async () => {
    const before = await figures();
    await core.deliver([authorization('v-1', { amount: -100 })]);
    const order = { fromAccountId: accountId, toAccountId: 'a-1002-savings' };
    const { posted, held } = await figures();
    assert.equal(held, before.held + 10_000);
    const app = await clientOf(service);
    const amount = (posted - held + 1) / 100;
    assert.equal((await app.post(paths.transfers, { ...order, amount })).body.code, 'insufficient_funds');
  });
});
