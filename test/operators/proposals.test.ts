import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { clientOf, type DemoCaller, paths } from '../support/demo.ts';
import { demoAddress, operatorOf, type TestOperator } from '../support/operators.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let harbor: DemoCaller;
let one: TestOperator;
let two: TestOperator;
let administrator: TestOperator;
let second: TestOperator;

before(async () => {
  service = await startTestService({ environment: demoAddress });
  harbor = await clientOf(service, ['harbor-app', 'harbor-app-secret']);
  one = await operatorOf(service, 'Demo approver', 'harbor');
  two = await operatorOf(service, 'Second demo approver', 'harbor');
  administrator = await operatorOf(service, 'Demo administrator', 'harbor');
  second = await operatorOf(service, 'Demo viewer', 'harbor');
  const { operatorId } = (await second.get('/session')).body;
  const change = { roles: ['viewer', 'administrator'], reason: 'a second administrator' };
  assert.equal((await administrator.send('PATCH', `/operators/${operatorId}`, change)).status, 200);
});
after(() => service.close());

// biome-ignore lint/suspicious/noExplicitAny: a document of the service
async function seenBy(operator: TestOperator, type: string): Promise<any[]> {
  const answer = await operator.get('/proposals');
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body.filter((proposal: { type: string }) => proposal.type === type);
}

test('a proposed reversal shows its amount, accounts and reason, and only another approver may confirm it', async () => {
  const order = {
    id: 'back',
    fromAccountId: 'a-1002-checking',
    toAccountId: 'a-1001-checking',
    amount: 12.5,
  };
  assert.equal((await harbor.post(paths.transfers, order)).body.status, 'COMPLETED');
  const proposed = await one.post('/transfers/back/reverse', { reason: 'Paid by mistake' });
  assert.equal(proposed.body.outcome, 'PROPOSED');
  const [own] = await seenBy(one, 'REVERSAL');
  const [other] = await seenBy(two, 'REVERSAL');
  const { proposedAt: _, expiresAt: __, ...rest } = other;
  assert.deepEqual(rest, {
    ...{ kind: 'proposal', id: 'back', type: 'REVERSAL', amount: '12.50', currencyCode: 'USD' },
    ...{ fromAccountId: 'a-1002-checking', toAccountId: 'a-1001-checking' },
    ...{ proposedBy: 'Demo approver', reason: 'Paid by mistake', mayConfirm: true },
  });
  assert.equal(own.mayConfirm, false);
  // It names accounts of members.
  assert.deepEqual(await seenBy(administrator, 'REVERSAL'), []);
  const auditor = await operatorOf(service, 'Demo auditor', 'harbor');
  assert.deepEqual(
    (await seenBy(auditor, 'REVERSAL')).map(({ mayConfirm }) => mayConfirm),
    [false],
  );
  const pending: { id: string; mayConfirm: boolean }[] = (await two.get('/pending')).body;
  assert.equal(pending.find(({ id }) => id === 'back')?.mayConfirm, true);
  const elsewhere = await operatorOf(service, 'Second demo approver', 'lakeside');
  assert.deepEqual((await elsewhere.get('/proposals')).body, []);
  assert.equal((await two.post('/transfers/back/reverse', { reason: 'Asked' })).body.outcome, 'DONE');
  assert.deepEqual(await seenBy(two, 'REVERSAL'), []);
});

test('a proposed day shows the day, and another administrator confirms it by the same act', async () => {
  const day = { day: '2027-12-23', open: false };
  const proposed = await administrator.post('/calendar', { ...day, reason: 'Town holiday' });
  assert.equal(proposed.body.outcome, 'PROPOSED');
  const [own] = await seenBy(administrator, 'RULES');
  const [other] = await seenBy(second, 'RULES');
  const change = { days: [day], policies: [], limits: [], contributionLimits: [] };
  assert.deepEqual([other.change, other.reason, other.mayConfirm], [change, 'Town holiday', true]);
  assert.deepEqual([own.change, own.mayConfirm], [change, false]);
  assert.equal((await seenBy(one, 'RULES'))[0].mayConfirm, false);

  // Other rules that were made meanwhile make the same day another change of rules.
  const later = { day: '2027-12-27', open: false };
  assert.equal(
    (await administrator.post('/calendar', { ...later, reason: 'Another' })).body.outcome,
    'PROPOSED',
  );
  assert.equal((await second.post('/calendar', { ...later, reason: 'Agreed' })).body.outcome, 'DONE');
  const [stale] = await seenBy(second, 'RULES');
  assert.deepEqual([stale.change, stale.mayConfirm], [change, false]);

  assert.equal((await administrator.post('/calendar', { ...day, reason: 'Anew' })).body.outcome, 'PROPOSED');
  const fresh = (await seenBy(second, 'RULES')).find(({ mayConfirm }) => mayConfirm);
  assert.deepEqual([fresh.change, fresh.reason], [change, 'Anew']);
  assert.equal(
    (await second.post('/calendar', { ...fresh.change.days[0], reason: 'Yes' })).body.outcome,
    'DONE',
  );
  const open = (await administrator.post('/calendar', { day: day.day, open: null, reason: 'No' })).body;
  assert.equal(open.outcome, 'PROPOSED');
  const [ending] = (await seenBy(second, 'RULES')).filter(({ mayConfirm }) => mayConfirm);
  assert.deepEqual(ending.change.days, [{ day: day.day, open: null }]);
});
