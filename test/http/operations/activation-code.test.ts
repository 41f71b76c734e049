import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { reissueActivation } from '../../../src/auth/index.ts';
import { ownOrigin } from '../../../src/events/index.ts';
import { type Answer, clientOf, type DemoCaller, memberOf, paths, send } from '../../support/demo.ts';
import { institutionOf } from '../../support/identity.ts';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
let app: DemoCaller;
let harbor: DemoCaller;
let now = new Date('2026-03-02T12:00:00Z');
before(async () => {
  service = await startTestService({ clock: () => now });
  app = await clientOf(service);
  harbor = await clientOf(service, ['harbor-app', 'harbor-app-secret']);
});
after(() => service.close());

const feed = '/digitalbanking/db-events/v1/events';
const password = 'seven lanterns by the lake';
const codeOf = (eventId: string, caller = app) => caller.get(`${feed}/${eventId}/activation-code`);
const delivered = (eventId: string, caller = app) =>
  caller.post(`${feed}/${eventId}/activation-code/delivered`, {});
const withoutInstance = ({ status, body }: Answer) => ({ ...body, status, instance: '' });

/** The position of this reader of the feed. */
let next = `${feed}?limit=200`;
/** Registers a member, and reads the feed up to their event, which another transaction may delay. */
async function aRegistration(memberNumber: string, email: string) {
  const registered = await app.post(paths.register, { memberNumber, email });
  assert.equal(registered.status, 201, registered.text);
  const { userId } = registered.body;
  for (const deadline = performance.now() + 60_000; performance.now() < deadline; await sleep(20)) {
    const page = await app.get(next);
    next = /^<http:\/\/sharedraft\.test(.*)>/.exec(page.headers.get('link') ?? '')?.[1] ?? next;
    const event = page.body.find(
      (one: { eventType: string; userId: string }) =>
        one.eventType === 'member.registered' && one.userId === userId,
    );
    if (event !== undefined) return { userId, eventId: event.eventId as string };
  }
  return assert.fail('the event was not seen');
}

/** The audit entries of a member's code. */
async function audited(userId: string): Promise<string[]> {
  const rows = await service.db.superuser<{ entry: string }>(
    `select concat_ws(' ', action, outcome, client_id) as entry from audit_entries
     where user_id = $1 and action like 'user.activation_code%' order by audit_key`,
    [userId],
  );
  return rows.map(({ entry }) => entry);
}

const secretsOf = (eventId: string) =>
  service.db.superuser(
    `select secret, secret_expires_at from outbox where concat_ws('-', epoch, xid, event_key) = $1`,
    [eventId],
  );

test('an activation code leads from registering through the feed to a login, and a lost response can be repeated', async () => {
  const { userId, eventId } = await aRegistration('100016', 'poppy.newcomer@example.test');
  const first = await codeOf(eventId);
  assert.equal(first.status, 200, first.text);
  const { activationCode, ...rest } = first.body;
  assert.deepEqual(rest, { userId, expiresAt: '2026-03-05T12:00:00.000Z' });
  assert.equal(first.headers.get('cache-control'), 'no-store');
  assert.equal((await codeOf(eventId)).text, first.text);

  const acknowledged = await delivered(eventId);
  assert.equal(acknowledged.status, 200, acknowledged.text);
  assert.equal((await delivered(eventId)).text, acknowledged.text);
  assert.deepEqual(withoutInstance(await codeOf(eventId)), withoutInstance(await codeOf('0-1-1')));
  assert.deepEqual(await secretsOf(eventId), [{ secret: null, secret_expires_at: null }]);

  const activated = await app.post(paths.activate, { activationCode, username: 'poppy.new', password });
  assert.equal(activated.status, 201, activated.text);
  await memberOf(service, 'poppy.new', password);
  assert.deepEqual(await audited(userId), [
    'user.activation_code_read succeeded demo-app',
    'user.activation_code_read succeeded demo-app',
    'user.activation_code_delivered succeeded demo-app',
  ]);
});

test('acknowledging an activation code needs no body', async () => {
  const { eventId } = await aRegistration('100017', 'yarrow.pairwise@example.test');
  const headers = { authorization: `Bearer ${app.token}` };
  const path = `${feed}/${eventId}/activation-code/delivered`;
  assert.equal((await send(service.address, 'POST', path, { headers })).status, 200);
  assert.equal((await codeOf(eventId)).status, 404);
});

describe('activation code: one 404', () => {
  let nothing: object;
  before(async () => {
    nothing = withoutInstance(await codeOf('0-1-1'));
  });

  test('returns the same 404 for an activation code of a missing event, or of a malformed event id', async () => {
    const { eventId } = await aRegistration('100020', 'zinnia.stubbington@example.test');
    const [epoch, xid, key] = eventId.split('-');
    const others = [
      `1-${xid}-${key}`,
      `${epoch}-${Number(xid) + 1}-${key}`,
      `${epoch}-${xid}-${Number(key) + 1}`,
    ];
    const written = [`0${eventId}`, `${eventId}-0`, `${epoch}-${xid}`, 'x'];
    const tooLarge = [`2147483648-${xid}-${key}`, `0-18446744073709551616-1`, `0-1-9223372036854775808`];
    for (const id of [...others, ...written, ...tooLarge]) {
      assert.deepEqual(withoutInstance(await codeOf(id)), nothing, id);
      assert.deepEqual(withoutInstance(await delivered(id)), nothing, id);
    }
    assert.equal((await codeOf(eventId)).status, 200);
  });

  test('returns the same 404 for another institution’s activation event, which it can neither read nor wipe', async () => {
    const { eventId, userId } = await aRegistration('100021', 'birch.demowitz@example.test');
    assert.deepEqual(withoutInstance(await codeOf(eventId, harbor)), nothing);
    assert.deepEqual(withoutInstance(await delivered(eventId, harbor)), nothing);
    assert.deepEqual(await audited(userId), []);
    assert.equal((await codeOf(eventId)).status, 200);
  });

  test('returns the same 404 for an activation code of another kind of event', async () => {
    const member = await memberOf(service, 'demo.member', 'demo-member-password');
    const order = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 1 };
    assert.equal((await member.post(paths.transfers, order)).status, 201);
    const { eventId } = await aRegistration('ASKED-4', 'asked.four@example.test');
    const { activationCode } = (await codeOf(eventId)).body;
    const login = { activationCode, username: 'asked.four', password };
    assert.equal((await app.post(paths.activate, login)).status, 201);
    for (const kind of ['transfer.completed', 'member.activated']) {
      const [event] = await service.db.superuser<{ id: string }>(
        `select concat_ws('-', epoch, xid, event_key) as id from outbox where kind = $1
         order by event_key desc limit 1`,
        [kind],
      );
      assert.ok(event, kind);
      assert.deepEqual(withoutInstance(await codeOf(event.id)), nothing, kind);
      assert.deepEqual(withoutInstance(await delivered(event.id)), nothing, kind);
    }
  });

  test('returns the same 404 for an activation code that was used or replaced by a newer one', async () => {
    const used = await aRegistration('100022', 'cove.trialson@example.test');
    const { activationCode } = (await codeOf(used.eventId)).body;
    const login = { activationCode, username: 'cove.trial', password };
    assert.equal((await app.post(paths.activate, login)).status, 201);
    assert.deepEqual(withoutInstance(await codeOf(used.eventId)), nothing);

    const replaced = await aRegistration('100023', 'dune.exampleton@example.test');
    const { auth } = service.service.context;
    const { institutionId } = await institutionOf(service, 'lakeside');
    assert.ok(await reissueActivation(auth, institutionId, { name: replaced.userId, origin: ownOrigin() }));
    assert.deepEqual(withoutInstance(await codeOf(replaced.eventId)), nothing);
  });

  test('returns the same 404 for an activation code with the selector of another', async () => {
    const { eventId, userId } = await aRegistration('ASKED-5', 'asked.five@example.test');
    await service.db.superuser(
      `update activations set secret_hash = sha256('other')
       where user_key = (select user_key from users where user_id = $1)`,
      [userId],
    );
    assert.deepEqual(withoutInstance(await codeOf(eventId)), nothing);
  });

  test('returns the same 404 for one of our activation codes that was not issued to this user', async () => {
    const [one, other] = [
      await aRegistration('ASKED-1', 'asked.one@example.test'),
      await aRegistration('ASKED-2', 'asked.two@example.test'),
    ];
    // The database's owner could do this; the service's role may not.
    await service.db.superuser(
      `set session_replication_role = replica;
       update outbox o set secret = s.secret from outbox s
       where concat_ws('-', o.epoch, o.xid, o.event_key) = '${one.eventId}'
         and concat_ws('-', s.epoch, s.xid, s.event_key) = '${other.eventId}'`,
    );
    assert.deepEqual(withoutInstance(await codeOf(one.eventId)), nothing);
    assert.equal((await codeOf(other.eventId)).status, 200);
  });

  test('returns the same 404 for an activation code sealed under another SECRET_KEY', async () => {
    const { eventId } = await aRegistration('ASKED-3', 'asked.three@example.test');
    await service.db.superuser(
      `set session_replication_role = replica;
       update outbox set secret = sha256('other') where concat_ws('-', epoch, xid, event_key) = '${eventId}'`,
    );
    assert.deepEqual(withoutInstance(await codeOf(eventId)), nothing);
  });

  test('returns the same 404 for an expired activation code', async () => {
    const { eventId } = await aRegistration('100024', 'ember.placeholder@example.test');
    const then = now;
    now = new Date(then.getTime() + 72 * 60 * 60 * 1000 - 1);
    assert.equal((await codeOf(eventId, await clientOf(service))).status, 200);
    now = new Date(then.getTime() + 72 * 60 * 60 * 1000);
    assert.deepEqual(withoutInstance(await codeOf(eventId, await clientOf(service))), nothing);
    now = then;
  });
});

test('a known token that has ended leaves nothing in the audit', async () => {
  const { eventId, userId } = await aRegistration('100025', 'flint.stubbington@example.test');
  const leaving = await clientOf(service);
  assert.equal((await codeOf(eventId, leaving)).status, 200);
  const itself = { client_id: 'demo-app', client_secret: 'demo-app-secret' };
  await send(service.address, 'POST', paths.revoke, { body: { token: leaving.token, ...itself } });
  assert.equal((await codeOf(eventId, leaving)).status, 401);
  assert.equal((await audited(userId)).length, 1);
});
