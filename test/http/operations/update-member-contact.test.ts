import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { reissueEmailCode } from '../../../src/auth/index.ts';
import { ownOrigin } from '../../../src/events/index.ts';
import { findUser } from '../../../src/members/index.ts';
import { type Answer, clientOf, type DemoCaller, memberOf, paths } from '../../support/demo.ts';
import { institutionOf } from '../../support/identity.ts';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
let app: DemoCaller;
let member: DemoCaller;
let now = new Date('2026-03-02T12:00:00Z');
before(async () => {
  service = await startTestService({
    clock: () => now,
    environment: { CONTACT_CHANGES_PER_MINUTE: '1000' },
  });
  app = await clientOf(service);
  member = await memberOf(service, 'demo.member', 'demo-member-password');
});
after(() => service.close());

const update = (caller: DemoCaller, customerId: string, body: object): Promise<Answer> =>
  caller.patch(`${paths.customer(customerId)}/contact-info`, body);
const changes = () =>
  service.db.superuser<{ data: unknown }>(`select data from outbox where kind = 'member.contact_changed'`);

describe('update contact: 200', () => {
  test('changes e-mail and phone, together and alone, keeps the rest, and stores an event for each change', async () => {
    const before = (await changes()).length;
    const both = await update(member, 'c-1001', {
      emailAddress: 'willow.new@example.test',
      phoneNumber: '(202) 555-0199',
      phoneType: 'WORK',
    });
    assert.equal(both.status, 200);
    assert.equal(both.body.emailAddress, 'willow.new@example.test');
    assert.deepEqual(both.body.phoneNumbers.toSorted(byType), [
      { phoneNumber: '+12025550143', phoneType: 'MOBILE' },
      { phoneNumber: '+12025550199', phoneType: 'WORK' },
    ]);
    const alone = await update(app, 'c-1001', { phoneNumber: '+12025550188' });
    assert.equal(alone.body.emailAddress, 'willow.new@example.test');
    assert.deepEqual(alone.body.phoneNumbers.toSorted(byType)[0], {
      phoneNumber: '+12025550188',
      phoneType: 'MOBILE',
    });
    const read = await member.get(`${paths.customer('c-1001')}/contact-methods`);
    assert.equal(read.text, alone.text);
    assert.equal((await changes()).length, before + 2);
  });

  test('changes nothing and stores no event without new values', async () => {
    const profile = (await member.get(`${paths.customer('c-1001')}/contact-methods`)).text;
    const before = (await changes()).length;
    assert.equal((await update(member, 'c-1001', {})).text, profile);
    const nulls = { emailAddress: null, phoneNumber: null, phoneType: null };
    assert.equal((await update(member, 'c-1001', nulls)).text, profile);
    assert.equal((await update(member, 'c-1001', { emailAddress: 'willow.new@example.test' })).text, profile);
    assert.equal((await changes()).length, before);
  });
});

test('returns 400 for an invalid contact, and for fields that cannot be changed here', async () => {
  const cases: [object, string][] = [
    [{ emailAddress: 'nobody' }, '/emailAddress'],
    [{ phoneNumber: '12' }, '/phoneNumber'],
    [{ phoneNumber: 'call me' }, '/phoneNumber'],
    [{ phoneNumber: 2025550143 }, '/phoneNumber'],
    [{ phoneNumber: '+12025550143', phoneType: 'FAX' }, '/phoneType'],
    [{ firstName: 'Will' }, '/firstName'],
    [{ userStatus: { locked: false } }, '/userStatus'],
  ];
  const before = (await changes()).length;
  for (const [body, pointer] of cases) {
    const answer = await update(member, 'c-1001', body);
    assert.equal(answer.status, 400, JSON.stringify(body));
    assert.equal(answer.body.errors[0].pointer, pointer);
  }
  assert.equal((await changes()).length, before);
});

test('returns the same 404 for a missing customer and for another member’s', async () => {
  const missing = await update(member, 'c-none', { emailAddress: 'a@example.test' });
  const other = await update(member, 'c-1002', { emailAddress: 'a@example.test' });
  assert.equal(missing.status, 404);
  assert.deepEqual({ ...other.body, instance: '' }, { ...missing.body, instance: '' });
});

function byType(a: { phoneType: string }, b: { phoneType: string }): number {
  return a.phoneType < b.phoneType ? -1 : 1;
}

describe('verification of an e-mail address', () => {
  const confirm = (caller: DemoCaller, emailCode: string) =>
    caller.post('/digitalbanking/v1/customers/confirm-email', { emailCode });

  /** The user that the address identifies for a client of the institution and for an assertion of a provider. */
  async function foundBy(email: string): Promise<string | undefined> {
    const { institutionId } = await institutionOf(service, 'lakeside');
    const asserted = await service.db.database.read(institutionId, (db) => findUser(db, email, 'EMAIL'));
    const profile = await app.get(`${paths.customer(email)}/contact-methods?userIdType=EMAIL`);
    assert.equal(profile.body.userId, asserted?.userId, profile.text);
    return asserted?.userId;
  }

  async function codeFor(username: string): Promise<string> {
    const { institutionId } = await institutionOf(service, 'lakeside');
    const { auth } = service.service.context;
    const issued = await reissueEmailCode(auth, institutionId, { name: username, origin: ownOrigin() });
    assert.ok(typeof issued === 'object', String(issued));
    return issued.code;
  }

  test('an e-mail address finds its member once its code is confirmed, and the old one until then', async () => {
    const brook = await memberOf(service, 'brook.overdraft', 'brook-river-lantern-9');
    const [old, changed] = ['brook.overdrawn@example.test', 'Brook.New@example.test'];
    assert.equal((await update(brook, 'c-1007', { emailAddress: changed })).body.emailAddress, changed);
    assert.deepEqual([await foundBy(changed), await foundBy(old)], [undefined, 'u-brook-overdraft']);

    const [event] = await service.db.superuser<{ id: string; data: object }>(
      `select concat_ws('-', epoch, xid, event_key) as id, data from outbox
       where kind = 'member.email_confirmation_requested' order by event_key desc limit 1`,
    );
    assert.deepEqual(event?.data, { emailAddress: changed });
    const path = `/digitalbanking/db-events/v1/events/${event?.id}/email-code`;
    const handed = await app.get(path);
    assert.deepEqual(
      [handed.status, handed.body.userId, handed.body.expiresAt],
      [200, 'u-brook-overdraft', '2026-03-03T12:00:00.000Z'],
    );
    assert.equal((await app.post(`${path}/delivered`, {})).status, 200);
    assert.equal((await app.get(path)).status, 404);

    const confirmed = await confirm(brook, handed.body.emailCode);
    assert.deepEqual([confirmed.status, confirmed.body.emailAddress], [200, changed]);
    assert.deepEqual(
      [await foundBy(changed.toLowerCase()), await foundBy(old)],
      ['u-brook-overdraft', undefined],
    );
    assert.equal((await confirm(brook, handed.body.emailCode)).body.code, 'email_code_invalid');
    const audited = await service.db.superuser<{ action: string }>(
      `select action from audit_entries where user_id = 'u-brook-overdraft' and action like 'user.email%' and outcome = 'succeeded' order by audit_key`,
    );
    assert.deepEqual(
      audited.map(({ action }) => action),
      ['user.email_code_read', 'user.email_code_delivered', 'user.email_confirmed'],
    );
  });

  test('an e-mail address of another login can be typed, but neither shuts that user out nor identifies them', async () => {
    const cedars = 'cedar.mockingford@example.test';
    const clover = await memberOf(service, 'clover.late', 'clover-late-lantern-10');
    assert.equal((await update(clover, 'c-1008', { emailAddress: cedars })).status, 200);
    assert.equal(await foundBy(cedars), 'u-cedar-owner');
    const taken = await confirm(clover, await codeFor('clover.late'));
    assert.deepEqual([taken.status, taken.body.code], [409, 'email_taken']);
    assert.equal(await foundBy(cedars), 'u-cedar-owner');
  });

  test('an e-mail address is verified at once if it is the core’s record', async () => {
    const olive = await memberOf(service, 'olive.euro', 'olive-euro-lantern-17');
    const [core] = await service.db.superuser<{ email: string }>(
      `select p.email from persons p join users u using (institution_id, person_key) where u.user_id = 'u-olive-euro'`,
    );
    await update(olive, 'c-1015', { emailAddress: 'olive.new@example.test' });
    await update(app, 'c-1015', { emailAddress: core?.email });
    assert.equal(await foundBy(core?.email ?? ''), 'u-olive-euro');
  });

  test('an e-mail address that another member has confirmed stays theirs, even if it is the core’s record of the first', async () => {
    const hazel = await memberOf(service, 'hazel.signer', 'hazel-gold-lantern-4');
    const core = 'hazel.mockingford@example.test';
    assert.equal(await foundBy(core), 'u-hazel-signer');
    await update(hazel, 'c-1003', { emailAddress: 'hazel.moved@example.test' });
    assert.equal((await confirm(hazel, await codeFor('hazel.signer'))).status, 200);
    const rowan = await memberOf(service, 'rowan.owner', 'rowan-bread-lantern-6');
    await update(rowan, 'c-1006', { emailAddress: core });
    assert.equal((await confirm(rowan, await codeFor('rowan.owner'))).status, 200);

    assert.equal((await update(hazel, 'c-1003', { emailAddress: core })).status, 200);
    assert.equal(await foundBy(core), 'u-rowan-owner');
    assert.equal(await foundBy('hazel.moved@example.test'), 'u-hazel-signer');
    assert.equal((await confirm(hazel, await codeFor('hazel.signer'))).body.code, 'email_taken');
    const byCore = `update users set verified_email = '${core}', email_verified_by = 'CORE' where user_id = 'u-hazel-signer'`;
    await assert.rejects(service.db.superuser(byCore), { code: 'SD041' });
  });

  test('an e-mail address of a newcomer’s opened membership finds no one before its code is confirmed', async () => {
    const email = 'new.comer@example.test';
    const registered = await app.post(paths.register, { memberNumber: 'NEW-MAIL-1', email });
    assert.equal(registered.status, 201);
    assert.equal(await foundBy(email), undefined);
    const { userId } = registered.body;
    assert.equal((await confirm(app, await codeFor(userId))).status, 200);
    assert.equal(await foundBy(email), userId);
  });

  test('an e-mail address accepts no code of another member, no expired one, and none after five wrong tries', async () => {
    const sage = await memberOf(service, 'sage.card', 'sage-card-lantern-16');
    await update(sage, 'c-1014', { emailAddress: 'sage.new@example.test' });
    const first = await codeFor('sage.card');
    assert.equal((await confirm(member, first)).body.code, 'email_code_invalid');
    const wrong = `${first.slice(0, -1)}${first.endsWith('A') ? 'B' : 'A'}`.replace(/.(?=.$)/, (c) =>
      c === 'X' ? 'Y' : 'X',
    );
    for (let tries = 0; tries < 5; tries += 1) {
      assert.equal((await confirm(sage, wrong)).body.code, 'email_code_invalid');
    }
    assert.equal((await confirm(sage, first)).body.code, 'email_code_invalid');
    const second = await codeFor('sage.card');
    await update(sage, 'c-1014', { emailAddress: 'sage.newer@example.test' });
    assert.equal((await confirm(sage, second)).body.code, 'email_code_invalid');
    const third = await codeFor('sage.card');
    now = new Date(now.getTime() + 24 * 60 * 60_000);
    const staff = await clientOf(service);
    assert.equal((await confirm(staff, third)).body.code, 'email_code_invalid');
    assert.equal((await confirm(staff, await codeFor('sage.card'))).status, 200);
  });

  const walls: [what: string, state: string, change: string][] = [
    [
      'a word of the core that the core did not say',
      'SD040',
      "verified_email = 'x@example.test', email_verified_by = 'CORE'",
    ],
    [
      'a confirmed address that another user is found by',
      'SD041',
      "verified_email = 'willow.testerman@example.test', email_verified_by = 'CODE'",
    ],
  ];
  for (const [what, state, change] of walls) {
    test(`the database refuses a verified address: ${what}`, async () => {
      const attempt = service.db.superuser(`update users set ${change} where user_id = 'u-wren-many'`);
      await assert.rejects(attempt, { code: state });
    });
  }
});

describe('policy of a recent login', () => {
  test('a member with an old login is challenged after RFC 9470 by that policy, and a client is not', async () => {
    await service.db.superuser(
      "update institutions set contact_change_max_age = 300 where code = 'lakeside'",
    );
    try {
      const login = () => memberOf(service, 'wren.many', 'wren-many-lantern-18');
      const early = await login();
      const change = { phoneNumber: '+12025550144' };
      assert.equal((await update(early, 'c-1019', change)).status, 200);
      now = new Date(now.getTime() + 301_000);
      const refused = await update(early, 'c-1019', { phoneNumber: '+12025550145' });
      assert.equal(refused.status, 401);
      assert.partialDeepStrictEqual(refused.body, {
        code: 'insufficient_user_authentication',
        max_age: 300,
        step_up: 'contact_change',
      });
      assert.match(
        refused.headers.get('www-authenticate') ?? '',
        /^Bearer realm="sharedraft", error="insufficient_user_authentication", .*max_age="300"$/,
      );
      assert.equal((await update(early, 'c-1019', {})).status, 200, 'nothing is changed');
      assert.equal((await update(await login(), 'c-1019', { phoneNumber: '+12025550146' })).status, 200);
      const staff = await clientOf(service);
      assert.equal((await update(staff, 'c-1019', { phoneNumber: '+12025550147' })).status, 200);
    } finally {
      await service.db.superuser(
        "update institutions set contact_change_max_age = 0 where code = 'lakeside'",
      );
    }
  });
});
