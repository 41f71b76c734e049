import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { asNdjson } from '../support/core.ts';
import { aConnector, type Connector, startCoreService } from '../support/core-instructions.ts';
import { demoAddress, operatorOf, type TestOperator } from '../support/operators.ts';
import { balancesOf, ledgerSums } from '../support/tables.ts';

const account = 'a-1001-checking';
const reason = 'posted twice by the branch';
let service: Awaited<ReturnType<typeof startCoreService>>;
let core: Connector;
let approver: TestOperator;
let second: TestOperator;
before(async () => {
  service = await startCoreService({ environment: demoAddress });
  core = await aConnector(service, 'lakeside-core');
  approver = await operatorOf(service, 'Demo approver');
  second = await operatorOf(service, 'Second demo approver');
});
after(() => service.close());

const posted = async () => (await balancesOf(service.db, 'lakeside'))[account]?.posted as bigint;

/** The core states a balance that is higher than the one here. Returns the id of the break. */
async function differing(byMinor: bigint): Promise<string> {
  const balance = Number((await posted()) + byMinor) / 100;
  const query = new URLSearchParams({ asOf: new Date().toISOString() });
  const response = await fetch(`${service.address}/digitalbanking/core/v1/balances?${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${core.token}`, 'content-type': 'application/x-ndjson' },
    body: asNdjson([{ accountId: account, balance, currencyCode: 'USD' }]),
  });
  assert.equal(response.status, 200, await response.text());
  const { body } = await approver.get('/breaks');
  return body.find((one: { accountId: string }) => one.accountId === account).id;
}

test('an approver posts the difference of a break, by name, and once', async () => {
  const before = await posted();
  const id = await differing(700n);
  const teller = await operatorOf(service, 'Demo teller');
  const seen = { difference: '7.00', reason };
  assert.equal((await teller.post(`/breaks/${id}/adjust`, seen)).status, 403);
  for (const body of [
    {},
    { reason },
    { difference: '7.00' },
    { difference: 7, reason },
    { difference: '7,00', reason },
  ]) {
    assert.equal((await approver.post(`/breaks/${id}/adjust`, body)).status, 400, JSON.stringify(body));
  }
  assert.deepEqual((await approver.post(`/breaks/${id}/adjust`, seen)).body, { outcome: 'DONE' });
  assert.equal(await posted(), before + 700n);
  assert.deepEqual(new Set(await ledgerSums(service.db)), new Set(['0']));
  const again = await approver.post(`/breaks/${id}/adjust`, seen);
  assert.deepEqual([again.status, again.body.code], [409, 'act_refused']);
  const { body } = await approver.get(`/breaks/${id}`);
  assert.equal(body.closedBy, 'ADJUSTED');
  assert.deepEqual(
    body.story.map(({ author, note }: { author?: string; note: string }) => [author, note]).at(-1),
    ['Demo approver', `Adjusted: ${reason}`],
  );
});

test('an adjustment needs two approvers where a policy demands two persons', async () => {
  await service.db.superuser(
    `update transfer_policies set second_approval_above = 1000000 where institution_id = $1 and transfer_type = 'INTRA_FI'`,
    [service.institutionId],
  );
  const before = await posted();
  const id = await differing(-250n);
  for (let times = 0; times < 2; times += 1) {
    const { body } = await approver.post(`/breaks/${id}/adjust`, { difference: '-2.50', reason });
    assert.equal(body.outcome, 'PROPOSED');
    assert.equal(body.proposedBy, 'Demo approver');
  }
  assert.equal(await posted(), before);
  assert.deepEqual(await proposedOf(id), [['-2.50', 'USD', account, 'Demo approver']]);
  const confirmed = await second.post(`/breaks/${id}/adjust`, { difference: '-2.50', reason });
  assert.deepEqual(confirmed.body, { outcome: 'DONE' });
  assert.equal(await posted(), before - 250n);
});

/** The adjustments of a break that wait for a second person. */
async function proposedOf(id: string) {
  const { body } = await approver.get('/pending');
  return body
    .filter((one: { kind: string; id: string }) => one.kind === 'proposal' && one.id === id)
    .map((one: Record<string, string>) => [one.amount, one.currencyCode, one.accountId, one.proposedBy]);
}

test('refuses the second approver a difference that has changed since the proposal', async () => {
  const before = await posted();
  const id = await differing(250n);
  const adjust = (by: TestOperator, difference: string) =>
    by.post(`/breaks/${id}/adjust`, { difference, reason });
  assert.equal((await adjust(approver, '2.50')).body.outcome, 'PROPOSED');
  assert.equal(await differing(9_000_000n), id);
  assert.deepEqual(await proposedOf(id), []);
  const stale = await adjust(second, '2.50');
  assert.deepEqual([stale.status, stale.body.code], [409, 'act_refused']);
  assert.match(stale.body.detail, /now 90000\.00 USD/);
  assert.equal((await adjust(second, '90000.00')).body.outcome, 'PROPOSED');
  assert.equal(await posted(), before);
  assert.deepEqual(await proposedOf(id), [['90000.00', 'USD', account, 'Second demo approver']]);
  assert.deepEqual((await adjust(approver, '90000.00')).body, { outcome: 'DONE' });
  assert.equal(await posted(), before + 9_000_000n);
  assert.deepEqual(await proposedOf(id), []);
});
