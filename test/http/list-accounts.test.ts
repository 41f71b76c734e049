import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Answer, clientOf, type DemoCaller, memberOf, paths } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';

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

describe('200', () => {
  test('to a member all accounts that name them, in every membership', async () => {
    const caller = await juniper();
    const all = ['a-1004-checking', 'a-1004-savings', 'a-1005-checking', 'a-1005-savings'];
    assert.deepEqual(ids(await caller.get(paths.accounts)), all);
    assert.deepEqual(ids(await caller.get(`${paths.accounts}?customerId=c-1005`)), all.slice(2));
    assert.deepEqual(ids(await caller.get(`${paths.customer('c-1004')}/accounts`)), all.slice(0, 2));
  });

  test('to a joint owner not what only the other holds; to a client all of it', async () => {
    const joint = ['a-1002-checking', 'a-1002-mortgage'];
    const caller = await fern();
    assert.deepEqual(ids(await caller.get(paths.accounts)), joint);
    assert.deepEqual(ids(await caller.get(`${paths.customer('c-1002')}/accounts`)), joint);
    for (const path of [`${paths.accounts}?customerId=c-1002`, `${paths.customer('c-1002')}/accounts`]) {
      assert.deepEqual(ids(await app.get(path)), [...joint, 'a-1002-savings']);
    }
  });

  test('each is the account that reading it answers', async () => {
    const [first] = (await app.get(`${paths.accounts}?customerId=c-1001`)).body;
    assert.deepEqual((await app.get(`${paths.accounts}/${first.accountId}`)).body, first);
  });
});

test('400: a client that does not say whose', async () => {
  const answer = await app.get(paths.accounts);
  assert.equal(answer.status, 400);
  assert.equal(answer.body.errors[0].pointer, 'customerId');
});

test('404: a membership that does not exist and, alike, one the member does not belong to', async () => {
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
