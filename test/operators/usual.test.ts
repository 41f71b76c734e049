import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { clientOf, type DemoCaller, paths } from '../support/demo.ts';
import { demoAddress, operatorOf, type TestOperator } from '../support/operators.ts';
import { startTestService, type TestService } from '../support/service.ts';

const checking = 'a-1002-checking';
const savings = 'a-1002-savings';
const payee = 'a-1001-checking';
let service: TestService;
let now = Date.now();
let harbor: DemoCaller;
let approver: TestOperator;

before(async () => {
  service = await startTestService({ environment: demoAddress, clock: () => new Date(now) });
  harbor = await clientOf(service, ['harbor-app', 'harbor-app-secret']);
  approver = await operatorOf(service, 'Demo approver', 'harbor');
});
after(() => service.close());

async function pay(id: string, amount: number, [fromAccountId, toAccountId]: [string, string]) {
  now += 1_000;
  const { body } = await harbor.post(paths.transfers, { id, fromAccountId, toAccountId, amount });
  return body.status;
}

const none = {
  ...{ transfers: 0, isCut: false, median: null, largest: null },
  ...{ atLeastAsLarge: 0, toPayee: 0, lastToPayee: null },
};

test('shows what completed out of the source and the other accounts of the membership in the 90 days before', async () => {
  assert.equal(await pay('usual-first', 600, [checking, payee]), 'PENDING');
  const first = (await approver.get('/transfers/usual-first/usual')).body;
  assert.deepEqual([first.source, first.others, first.currencyCode], [none, none, 'USD']);

  for (const amount of [10, 20, 30])
    assert.equal(await pay(`usual-${amount}`, amount, [checking, savings]), 'COMPLETED');
  assert.equal(await pay('usual-other', 5, [savings, payee]), 'COMPLETED');
  // Another membership, another order that waits, and one that failed are none of them.
  assert.equal(await pay('usual-elsewhere', 40, [payee, checking]), 'COMPLETED');
  assert.equal(await pay('usual-refused', 400_000, [savings, payee]), 422);
  assert.equal(await pay('usual-held', 510, [checking, payee]), 'PENDING');
  const { source, others, since, until } = (await approver.get('/transfers/usual-held/usual')).body;
  assert.equal(Date.parse(until) - Date.parse(since), 90 * 86_400_000);
  const counted = { ...none, transfers: 3, median: '20.00', largest: '30.00' };
  assert.deepEqual(source, counted);
  const { lastToPayee, ...other } = others;
  assert.deepEqual(other, {
    ...{ transfers: 1, isCut: false, median: '5.00', largest: '5.00', atLeastAsLarge: 0, toPayee: 1 },
  });
  assert.deepEqual([lastToPayee.id, lastToPayee.amount], ['usual-other', '5.00']);

  // Transfers that come later leave the picture as it was.
  assert.equal(
    (await approver.post('/transfers/usual-held/approve', { reason: 'known' })).body.status,
    'COMPLETED',
  );
  assert.deepEqual((await approver.get('/transfers/usual-held/usual')).body.source, counted);
  assert.equal(await pay('usual-next', 505, [checking, payee]), 'PENDING');
  const next = (await approver.get('/transfers/usual-next/usual')).body.source;
  assert.deepEqual(
    [next.transfers, next.largest, next.atLeastAsLarge, next.lastToPayee.id],
    [4, '510.00', 1, 'usual-held'],
  );
});

test('is for roles that read members, of their own institution, and the audit records each read', async () => {
  const reads = async () =>
    (
      await service.db.superuser<{ subject: string }>(
        `select subject from audit_entries where action = 'account.read' and reason = 'usual' order by audit_key`,
      )
    ).map(({ subject }) => subject);
  const before = await reads();
  const administrator = await operatorOf(service, 'Demo administrator', 'harbor');
  assert.equal((await administrator.get('/transfers/usual-held/usual')).status, 403);
  const elsewhere = await operatorOf(service, 'Demo approver', 'lakeside');
  assert.equal((await elsewhere.get('/transfers/usual-held/usual')).status, 404);
  assert.equal((await approver.get('/transfers/no-such/usual')).status, 404);
  assert.deepEqual(await reads(), before);
  assert.equal((await approver.get('/transfers/usual-held/usual')).status, 200);
  assert.deepEqual((await reads()).slice(before.length), [checking]);
});

test('leaves out what completed more than 90 days before', async () => {
  now += 91 * 86_400_000;
  // Tokens and sessions have ended.
  harbor = await clientOf(service, ['harbor-app', 'harbor-app-secret']);
  assert.equal(await pay('usual-late', 600, [checking, payee]), 'PENDING');
  const later = await operatorOf(service, 'Demo approver', 'harbor');
  const { source, others } = (await later.get('/transfers/usual-late/usual')).body;
  assert.deepEqual([source, others], [none, none]);
});
