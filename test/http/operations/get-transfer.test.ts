import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Client } from '../../support/client.ts';
import { clientOf, type DemoCaller, memberOf, paths } from '../../support/demo.ts';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
let app: DemoCaller;
let pebble: DemoCaller;
let fern: DemoCaller;
let member: DemoCaller;
before(async () => {
  service = await startTestService();
  [app, pebble, fern, member] = await Promise.all([
    clientOf(service),
    memberOf(service, 'pebble.primary', 'pebble-blue-lantern-1'),
    memberOf(service, 'fern.joint', 'fern-green-lantern-2'),
    memberOf(service, 'demo.member', 'demo-member-password'),
  ]);
});
after(() => service.close());

const read = (caller: DemoCaller, id: string) => caller.get(`${paths.transfers}/${id}`);
const paid = {
  id: 'pebble-pays',
  fromAccountId: 'a-1002-checking',
  toAccountId: 'a-1001-checking',
  amount: 10,
};
const declined = {
  id: 'pebble-fails',
  fromAccountId: 'a-1002-checking',
  toAccountId: 'a-1001-checking',
  amount: 90_000,
};

describe('get transfer: 200', () => {
  test('returns a transfer to its orderer, the holders of its source, and the institution', async () => {
    const { text, status } = await pebble.post(paths.transfers, paid);
    assert.equal(status, 201);
    for (const caller of [pebble, fern, app]) assert.equal((await read(caller, paid.id)).text, text);
  });

  test('returns a declined transfer with its reason to its orderer and the institution', async () => {
    assert.equal((await pebble.post(paths.transfers, declined)).status, 422);
    for (const caller of [pebble, app]) {
      const { body } = await read(caller, declined.id);
      assert.equal(body.status, 'FAILED');
      assert.equal(body.failureCode, 'insufficient_funds');
    }
  });
});

test('returns 403 for a transfer read by a token without the scope', async () => {
  const http = new Client(service.address);
  const token = await http.token({
    grant_type: 'client_credentials',
    client_id: 'demo-app',
    client_secret: 'demo-app-secret',
    scope: 'transfer:write',
  });
  assert.equal((await http.get(`${paths.transfers}/${paid.id}`, { token })).body.code, 'insufficient_scope');
});

test('returns the same 404 to the payee, to other holders of a failed one, and for a missing transfer', async () => {
  const harbor = await clientOf(service, ['harbor-app', 'harbor-app-secret']);
  const missing = await read(app, 'never-ordered');
  assert.equal(missing.status, 404);
  for (const answer of [
    await read(member, paid.id),
    await read(fern, declined.id),
    await read(harbor, paid.id),
    await read(app, '%00'),
  ]) {
    assert.deepEqual({ ...answer.body, instance: '' }, { ...missing.body, instance: '' });
  }
});
