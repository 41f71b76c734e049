import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Answer, clientOf, type DemoCaller, memberOf, paths } from '../../support/demo.ts';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
let app: DemoCaller;
before(async () => {
  service = await startTestService();
  app = await clientOf(service);
});
after(() => service.close());

const ids = ({ body }: Answer) => body.map((account: { accountId: string }) => account.accountId).toSorted();
const fern = () => memberOf(service, 'fern.joint', 'fern-green-lantern-2');
const juniper = () => memberOf(service, 'juniper.two', 'juniper-two-lantern-5');

describe('list accounts: 200', () => {
  test('lists all accounts that name a member, in every membership', async () => {
    const caller = await juniper();
    const all = ['a-1004-checking', 'a-1004-savings', 'a-1005-checking', 'a-1005-savings'];
    assert.deepEqual(ids(await caller.get(paths.accounts)), all);
    assert.deepEqual(ids(await caller.get(`${paths.accounts}?customerId=c-1005`)), all.slice(2));
    assert.deepEqual(ids(await caller.get(`${paths.customer('c-1004')}/accounts`)), all.slice(0, 2));
  });

  test('lists to a joint owner no account that only the other holds, and to a client all of them', async () => {
    const joint = ['a-1002-checking', 'a-1002-mortgage'];
    const caller = await fern();
    assert.deepEqual(ids(await caller.get(paths.accounts)), joint);
    assert.deepEqual(ids(await caller.get(`${paths.customer('c-1002')}/accounts`)), joint);
    for (const path of [`${paths.accounts}?customerId=c-1002`, `${paths.customer('c-1002')}/accounts`]) {
      assert.deepEqual(ids(await app.get(path)), [...joint, 'a-1002-savings']);
    }
  });

  test('lists each account as reading it returns it', async () => {
    const [first] = (await app.get(`${paths.accounts}?customerId=c-1001`)).body;
    assert.deepEqual((await app.get(`${paths.accounts}/${first.accountId}`)).body, first);
  });
});

test('returns 400 to a client that lists accounts without naming a member', async () => {
  const answer = await app.get(paths.accounts);
  assert.equal(answer.status, 400);
  assert.equal(answer.body.errors[0].pointer, 'customerId');
});

test('returns the same 404 for a missing membership and for one that the member does not belong to', async () => {
  const caller = await fern();
  const missing = await caller.get(`${paths.customer('c-none')}/accounts`);
  assert.equal(missing.status, 404);
  for (const path of [
    `${paths.customer('c-1001')}/accounts`,
    `${paths.accounts}?customerId=c-1001`,
    `${paths.accounts}?customerId=c-none`,
    `${paths.customer('%00')}/accounts`,
  ]) {
    const answer = await caller.get(path);
    assert.deepEqual({ ...answer.body, instance: '' }, { ...missing.body, instance: '' }, path);
  }
});
