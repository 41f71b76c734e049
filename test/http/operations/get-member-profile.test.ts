import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Client } from '../../support/client.ts';
import { clientOf, type DemoCaller, memberOf, paths } from '../../support/demo.ts';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
let app: DemoCaller;
before(async () => {
  service = await startTestService();
  app = await clientOf(service);
});
after(() => service.close());

const profile = (caller: DemoCaller, id: string, userIdType?: string) =>
  caller.get(
    `${paths.customer(encodeURIComponent(id))}/contact-methods${userIdType === undefined ? '' : `?userIdType=${userIdType}`}`,
  );

const willow = {
  userId: 'u-demo-member',
  firstName: 'Willow',
  lastName: 'Testerman',
  emailAddress: 'willow.testerman@example.test',
  userRole: 'PRIMARY',
  userType: 'RETAIL',
  userStatus: { active: true, locked: false },
  customers: [{ customerId: 'c-1001', memberNumber: '100001' }],
  phoneNumbers: [{ phoneNumber: '+12025550143', phoneType: 'MOBILE' }],
};

describe('get profile: 200', () => {
  test('returns a profile for every kind of id, to the client and to the member', async () => {
    const member = await memberOf(service, 'demo.member', 'demo-member-password');
    for (const [id, type] of [
      ['c-1001', undefined],
      ['c-1001', 'CUSTOMER_ID'],
      ['100001', 'MEMBER_NUMBER'],
      ['willow.testerman@example.test', 'EMAIL'],
      ['Willow.Testerman@Example.test', 'EMAIL'],
      ['demo.member', 'LOGIN_ID'],
      ['DEMO.member', 'LOGIN_ID'],
      ['u-demo-member', 'USER_ID'],
    ] as const) {
      for (const caller of [app, member]) {
        const answer = await profile(caller, id, type);
        assert.equal(answer.status, 200, `${id} ${type}`);
        assert.deepEqual(answer.body, willow);
      }
    }
  });

  test('returns the PRIMARY of a membership to a client, and each member their own profile', async () => {
    assert.equal((await profile(app, 'c-1002')).body.firstName, 'Pebble');
    const fern = await memberOf(service, 'fern.joint', 'fern-green-lantern-2');
    const { body } = await profile(fern, 'c-1002');
    assert.equal(body.firstName, 'Fern');
    assert.equal(body.userRole, 'JOINT');
  });

  test('returns both memberships of a user', async () => {
    const { body } = await profile(app, 'c-1005');
    assert.deepEqual(
      body.customers.map((customer: { memberNumber: string }) => customer.memberNumber),
      ['100004', '100005'],
    );
  });

  test('returns business roles and locked or inactive users as such', async () => {
    const clerk = (await profile(app, 'linden.clerk', 'LOGIN_ID')).body;
    assert.deepEqual([clerk.userRole, clerk.userType], ['BUSINESS_USER', 'BUSINESS']);
    assert.deepEqual((await profile(app, 'c-1010')).body.userStatus, { active: true, locked: true });
    assert.deepEqual((await profile(app, 'c-1011')).body.userStatus, { active: false, locked: false });
  });
});

test('returns 400 for an unknown kind of id', async () => {
  const answer = await profile(app, 'c-1001', 'PASSPORT');
  assert.equal(answer.status, 400);
  assert.equal(answer.body.errors[0].pointer, 'userIdType');
});

test('returns 403 for a profile read by a token without the scope', async () => {
  const http = new Client(service.address);
  const token = await http.token({
    grant_type: 'client_credentials',
    client_id: 'demo-app',
    client_secret: 'demo-app-secret',
    scope: 'account:read',
  });
  const answer = await http.get(`${paths.customer('c-1001')}/contact-methods`, { token });
  assert.equal(answer.body.code, 'insufficient_scope');
});

describe('get profile: 404', () => {
  test('returns 404 for an id that is unknown, of another kind, impossible, or another institution’s', async () => {
    const harbor = await clientOf(service, ['harbor-app', 'harbor-app-secret']);
    const missing = await profile(app, 'nobody');
    for (const answer of [
      await profile(app, 'c-1001', 'MEMBER_NUMBER'),
      await profile(app, '100001', 'CUSTOMER_ID'),
      await profile(app, 'demo.member', 'USER_ID'),
      await profile(app, 'a\u0000b', 'EMAIL'),
      await profile(app, '%', 'LOGIN_ID'),
      await profile(app, 'c-1016'),
      await profile(harbor, 'willow.testerman@example.test', 'EMAIL'),
      await profile(harbor, 'u-demo-member', 'USER_ID'),
    ]) {
      assert.equal(answer.status, 404);
      assert.deepEqual({ ...answer.body, instance: '' }, { ...missing.body, instance: '' });
    }
  });

  test('returns 404 to a member for every other user, by any id', async () => {
    const member = await memberOf(service, 'demo.member', 'demo-member-password');
    for (const [id, type] of [
      ['c-1002', 'CUSTOMER_ID'],
      ['100002', 'MEMBER_NUMBER'],
      ['pebble.samplewick@example.test', 'EMAIL'],
      ['pebble.primary', 'LOGIN_ID'],
      ['u-pebble-primary', 'USER_ID'],
      ['family@sharemail.example', 'EMAIL'],
    ] as const) {
      assert.equal((await profile(member, id, type)).status, 404, id);
    }
  });
});

test('returns 409 to a client for an e-mail of two users, while each of them finds themselves by it', async () => {
  const answer = await profile(app, 'family@sharemail.example', 'EMAIL');
  assert.equal(answer.status, 409);
  assert.equal(answer.body.code, 'ambiguous_user_id');
  const ivy = await memberOf(service, 'ivy.shared', 'ivy-shared-lantern-14');
  assert.equal((await profile(ivy, 'family@sharemail.example', 'EMAIL')).body.firstName, 'Ivy');
});
