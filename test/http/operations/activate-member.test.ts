import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { reissueActivation } from '../../../src/auth/index.ts';
import { ownOrigin } from '../../../src/events/index.ts';
import { findInstitutionByCode } from '../../../src/institutions/index.ts';
import { type Answer, clientOf, type DemoCaller, memberOf, paths } from '../../support/demo.ts';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
let app: DemoCaller;
let now = new Date('2026-03-02T12:00:00Z');
before(async () => {
  service = await startTestService({ clock: () => now });
  app = await clientOf(service);
});
after(() => service.close());

const password = 'seven lanterns by the lake';
const activate = (body: object, caller: DemoCaller = app): Promise<Answer> =>
  caller.post(paths.activate, body);

/** Registers a member, and issues a code. */
async function aRegisteredMember(memberNumber: string, email: string) {
  const registered = await app.post(paths.register, { memberNumber, email });
  assert.equal(registered.status, 201, registered.text);
  const { userId } = registered.body;
  return { userId, profile: registered.text, activationCode: await aCodeFor(userId) };
}

/** Issues a code as the command line does. */
async function aCodeFor(userId: string): Promise<string> {
  const { auth, database } = service.service.context;
  const institution = await database.directory((db) => findInstitutionByCode(db, 'lakeside'));
  assert.ok(institution);
  const issued = await reissueActivation(auth, institution.institutionId, {
    name: userId,
    origin: ownOrigin(),
  });
  assert.ok(issued);
  return issued.code;
}

describe('activation: 201', () => {
  test('activation gives the member a login, and returns the profile with its Location', async () => {
    const { activationCode, profile } = await aRegisteredMember('100016', 'poppy.newcomer@example.test');
    const answer = await activate({ activationCode, username: 'Poppy.New', password });
    assert.equal(answer.status, 201);
    assert.equal(answer.text, profile);
    assert.equal((await app.get(answer.headers.get('location') ?? '')).text, profile);
    const member = await memberOf(service, 'poppy.new', password);
    const accounts = await member.get(paths.accounts);
    assert.deepEqual(
      accounts.body.map((account: { accountId: string }) => account.accountId),
      ['a-1016-checking', 'a-1016-savings'],
    );
  });
});

describe('changing the password', () => {
  const [username, old] = ['wren.many', 'wren-many-lantern-18'];
  const next = 'nine lanterns beside a quiet lake';
  const change = (caller: DemoCaller, currentPassword: string, newPassword: string) =>
    caller.post(paths.password, { currentPassword, newPassword });

  test('changing a password requires the current one, counts wrong ones like a login, and names the wrong field', async () => {
    const member = await memberOf(service, username, old);
    for (let tries = 1; tries <= 5; tries += 1) {
      const answer = await change(member, 'wrong', next);
      assert.equal(answer.status, 422);
      assert.equal(answer.body.code, 'wrong_password');
      assert.equal(answer.body.errors[0].pointer, '/currentPassword');
    }
    assert.equal((await change(member, old, next)).body.code, 'wrong_password', 'locked like the login');
    now = new Date(now.getTime() + 15 * 60_000);
    for (const weak of ['passwordpassword', 'Wren Busylist Lakeside', old, 'wren.many is my name']) {
      const answer = await change(member, old, weak);
      assert.equal(answer.body.code, 'password_rejected', weak);
      assert.equal(answer.body.errors[0].pointer, '/newPassword');
    }
  });

  test('changing a password ends every session of the member, and notifies the institution', async () => {
    const [member, elsewhere] = [
      await memberOf(service, username, old),
      await memberOf(service, username, old),
    ];
    const answer = await change(member, old, next);
    assert.equal(answer.status, 200);
    assert.equal(answer.body.userId, 'u-wren-many');
    for (const session of [member, elsewhere]) assert.equal((await session.get(paths.accounts)).status, 401);
    assert.equal((await (await memberOf(service, username, next)).get(paths.accounts)).status, 200);
    const events = await service.db.superuser(
      `select user_id from outbox join users on user_key = subject_key where kind = 'member.password_changed'`,
    );
    assert.deepEqual(events, [{ user_id: 'u-wren-many' }]);
  });

  test('changing a password requires a member’s token', async () => {
    const answer = await change(app, old, next);
    assert.equal(answer.status, 403);
    assert.equal(answer.body.code, 'member_token_required');
  });
});

describe('a second activation', () => {
  /** The events about the member's login, the oldest first, each by its last word. */
  async function eventsOf(userId: string) {
    const rows = await service.db.superuser<{ kind: string }>(
      `select o.kind from outbox o join users u on u.institution_id = o.institution_id and u.user_key = o.subject_key
       where u.user_id = $1 and o.kind in ('member.registered', 'member.activated', 'member.password_changed') order by o.event_key`,
      [userId],
    );
    return rows.map(({ kind }) => kind.replace('member.', ''));
  }

  test('a first activation changes no password, and each later one tells of the new password as any change does', async () => {
    const { userId, activationCode } = await aRegisteredMember('100017', 'thistle.pairwise@example.test');
    assert.equal((await activate({ activationCode, username: 'thistle.first', password })).status, 201);
    assert.deepEqual(await eventsOf(userId), ['registered', 'activated']);
    for (const username of ['thistle.first', 'thistle.other']) {
      const next = await aCodeFor(userId);
      assert.equal((await activate({ activationCode: 'NOPE', username, password })).status, 422);
      assert.equal((await activate({ activationCode: next, username, password })).status, 201);
    }
    const again = ['activated', 'password_changed'];
    assert.deepEqual(await eventsOf(userId), ['registered', 'activated', ...again, ...again]);
  });

  test('one of two activations with one code at the same moment tells of the new password', async () => {
    const { userId, activationCode } = await aRegisteredMember('100026', 'garnet.demowitz@example.test');
    await activate({ activationCode, username: 'garnet.first', password });
    const code = await aCodeFor(userId);
    const both = ['garnet.second', 'garnet.third'].map((username) =>
      activate({ activationCode: code, username, password }),
    );
    assert.deepEqual((await Promise.all(both)).map(({ status }) => status).toSorted(), [201, 422]);
    assert.deepEqual((await eventsOf(userId)).slice(2), ['activated', 'password_changed']);
  });
});

test('activation returns 400 for a body with missing or additional fields', async () => {
  for (const [body, pointer] of [
    [{ username: 'poppy.new', password }, '/activationCode'],
    [{ activationCode: 'x', password }, '/username'],
    [{ activationCode: 'x', username: 'poppy.new' }, '/password'],
    [{ activationCode: 'x', username: 'poppy.new', password, email: 'a@b.example' }, '/email'],
  ] as const) {
    const answer = await activate(body);
    assert.equal(answer.status, 400);
    assert.equal(answer.body.errors[0].pointer, pointer);
  }
});

test('activation returns 403 for a member’s token', async () => {
  const member = await memberOf(service, 'demo.member', 'demo-member-password');
  const answer = await activate({ activationCode: 'x', username: 'someone', password }, member);
  assert.equal(answer.body.code, 'client_token_required');
});

test('activation returns 409 for a used username in any case, and the code stays valid', async () => {
  const { activationCode } = await aRegisteredMember('100020', 'zinnia.stubbington@example.test');
  const taken = await activate({ activationCode, username: 'DEMO.Member', password });
  assert.equal(taken.status, 409);
  assert.equal(taken.body.code, 'username_taken');
  // An operator names users by either, so a username that equals another user's id would be confused with it.
  for (const username of ['u-demo-member', 'U-Demo-Member']) {
    assert.equal((await activate({ activationCode, username, password })).body.code, 'username_taken');
  }
  assert.equal((await activate({ activationCode, username: 'zinnia.s', password })).status, 201);
});

describe('activation: 422', () => {
  test('activation returns 422 for an unusable username or password, and the code stays valid', async () => {
    const { activationCode } = await aRegisteredMember('100021', 'birch.demowitz@example.test');
    for (const username of ['short', '123456789', '100021', 'with space', 'x'.repeat(65), 'nul\u0000name']) {
      const answer = await activate({ activationCode, username, password });
      assert.equal(answer.status, 422, username);
      assert.equal(answer.body.code, 'username_rejected');
    }
    for (const weak of ['fourteen chars', 'mailcreated5240', 'my birch.demo is here', 'x'.repeat(129)]) {
      const answer = await activate({ activationCode, username: 'birch.demo', password: weak });
      assert.equal(answer.status, 422, weak);
      assert.equal(answer.body.code, 'password_rejected');
    }
    assert.equal((await activate({ activationCode, username: 'birch.demo', password })).status, 201);
  });

  test('activation returns the same 422 for a code that is unknown, used, expired, tried wrongly five times, or without a user', async () => {
    const unknown = await activate({ activationCode: 'NOPE-NOPE', username: 'nobody.yet', password });
    assert.equal(unknown.status, 422);
    assert.equal(unknown.body.code, 'activation_code_invalid');
    const withoutInstance = ({ body }: Answer) => ({ ...body, instance: '' });

    const used = await aRegisteredMember('100022', 'cove.trialson@example.test');
    await activate({ ...used, userId: undefined, profile: undefined, username: 'cove.trial', password });
    const again = await activate({ activationCode: used.activationCode, username: 'cove.trial2', password });
    assert.deepEqual(withoutInstance(again), withoutInstance(unknown));

    const tried = await aRegisteredMember('100023', 'dune.exampleton@example.test');
    const wrong = `${tried.activationCode.slice(0, -1)}${tried.activationCode.endsWith('0') ? '4' : '0'}`;
    for (let count = 0; count < 5; count += 1) {
      const answer = await activate({ activationCode: wrong, username: 'dune.example', password });
      assert.deepEqual(withoutInstance(answer), withoutInstance(unknown));
    }
    const late = await activate({ activationCode: tried.activationCode, username: 'dune.example', password });
    assert.deepEqual(withoutInstance(late), withoutInstance(unknown));

    const former = await aRegisteredMember('100025', 'flint.stubbington@example.test');
    await service.db.superuser(
      `delete from customer_persons where person_key = (select person_key from users where user_id = $1)`,
      [former.userId],
    );
    const gone = { activationCode: former.activationCode, username: 'former.member', password };
    assert.deepEqual(withoutInstance(await activate(gone)), withoutInstance(unknown));

    const expired = await aRegisteredMember('100024', 'ember.placeholder@example.test');
    now = new Date(now.getTime() + 72 * 60 * 60 * 1000 + 1);
    const fresh = await clientOf(service);
    const body = { activationCode: expired.activationCode, username: 'ember.place', password };
    assert.deepEqual(withoutInstance(await activate(body, fresh)), withoutInstance(unknown));
  });
});
