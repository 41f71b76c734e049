import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  clientCredentials,
  type Event,
  NotFoundError,
  password,
  Sharedraft,
  webhooks,
} from '../../client/src/index.ts';
import { runMaintenance } from '../../src/app/background/maintenance.ts';
import { checkedFetch } from '../support/contract.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type Receiver, startReceiver, until } from './receiver.ts';

const app = { clientId: 'demo-app', clientSecret: 'demo-app-secret' };
let now = Date.now();
let service: TestService;
let bank: Sharedraft;
let member: Sharedraft;

before(async () => {
  service = await startTestService({ clock: () => new Date(now) });
  const options = { baseUrl: service.address, fetch: checkedFetch };
  bank = new Sharedraft({ ...options, auth: clientCredentials(app) });
  const demo = { username: 'demo.member', password: 'demo-member-password' };
  member = new Sharedraft({ ...options, auth: password(app, demo) });
});
after(() => service.close());

const pay = (amount = '1.00', toAccountId = 'a-1001-savings') =>
  member.transfers.create({ fromAccountId: 'a-1001-checking', toAccountId, amount });

async function endpointTo({ url }: Receiver, more: object = {}) {
  const created = await bank.webhooks.create({ url, ...more });
  return { ...created, secret: created.keys?.secret ?? '', publicKey: created.keys?.publicKey ?? '' };
}

test('sends a signed event of a transfer, which the client library verifies in both ways', async () => {
  await using receiver = await startReceiver();
  const { endpointId, secret, publicKey } = await endpointTo(receiver, { payload: 'FULL' });
  const { id } = await pay('105.20');
  await until(() => receiver.received.length > 0, 'a webhook');
  const [webhook] = receiver.received;
  assert.ok(webhook !== undefined);
  for (const key of [secret, publicKey]) {
    const event: Event = await webhooks.unwrap(webhook.body, webhook.headers as never, key);
    assert.deepEqual(
      [event.eventType, event.transfer?.id, event.transfer?.amount],
      ['transfer.completed', id, '105.20'],
    );
    assert.equal(webhook.headers['webhook-id'], event.eventId);
  }
  const { events } = await bank.events.read({ from: webhook.event.sequence, limit: 1 });
  assert.equal(events[0]?.eventId, webhook.event.eventId);
  await until(async () => (await bank.webhooks.attempts(endpointId)).items.length === 1, 'a logged attempt');
  const [attempt] = (await bank.webhooks.attempts(endpointId)).items;
  assert.deepEqual([attempt?.delivered, attempt?.status, attempt?.response], [true, 204, undefined]);
  await bank.webhooks.delete(endpointId);
});

test('sends only the types that were asked for, thin unless asked otherwise', async () => {
  await using receiver = await startReceiver();
  const { endpointId } = await endpointTo(receiver, { eventTypes: ['transfer.pending'] });
  await pay();
  const { id } = await pay('1000.01', 'a-1002-checking');
  await until(() => receiver.received.length > 0, 'a webhook');
  const [webhook, more] = receiver.received;
  assert.equal(more, undefined);
  assert.deepEqual(Object.keys(webhook?.event ?? {}).sort(), [
    'accounts',
    'eventId',
    'eventType',
    'sequence',
    'timestamp',
    'transferId',
    'userId',
  ]);
  assert.equal(webhook?.event.transferId, id);
  await bank.webhooks.delete(endpointId);
});

test('goes on with the next event after a pause, and tells the reason of its state', async () => {
  await using receiver = await startReceiver();
  const { endpointId } = await endpointTo(receiver, { description: 'Our books' });
  const paused = await bank.webhooks.update(endpointId, { status: 'PAUSED' });
  assert.deepEqual([paused.status, paused.statusReason], ['PAUSED', 'client']);
  await pay();
  await pay();
  await new Promise((resolve) => setTimeout(resolve, 600));
  assert.equal(receiver.received.length, 0);
  assert.equal((await bank.webhooks.update(endpointId, { status: 'ACTIVE' })).statusReason, undefined);
  await until(() => receiver.received.length === 2, 'two webhooks');
  const [first, second] = receiver.received.map(({ event }) => event.sequence);
  assert.equal(second, (first ?? 0) + 1);
  await bank.webhooks.delete(endpointId);
});

test('holds back later events of the accounts of a failed one, sends the others, and catches up', async () => {
  await using receiver = await startReceiver();
  const { endpointId } = await endpointTo(receiver);
  const poison = await pay('3.33');
  receiver.respond = ({ event }) => (event.transferId === poison.id ? 500 : 204);
  await until(() => receiver.received.length > 0, 'the failed webhook');
  await pay('4.44');
  const other = await bank.transfers.create({
    fromAccountId: 'a-1003-checking',
    toAccountId: 'a-1003-savings',
    amount: '1.00',
  });
  await until(() => receiver.accepted.length > 0, 'the event of other accounts');
  assert.deepEqual(
    receiver.accepted.map(({ event }) => event.transferId),
    [other.id],
  );
  const attemptsOfWaiting = async () =>
    (await bank.webhooks.deliveries(endpointId, { state: 'WAITING' })).items
      .map(({ attempts }) => attempts)
      .join();
  await until(async () => (await attemptsOfWaiting()) === '1,0', 'one failed, and one behind it');
  receiver.respond = () => 204;
  now += 10_000;
  await until(() => receiver.accepted.length === 3, 'all three');
  const ofAccount = receiver.accepted.map(({ event }) =>
    event.accounts.find(({ accountId }) => accountId === 'a-1001-checking'),
  );
  const sequences = ofAccount.flatMap((change) => change?.sequence ?? []);
  assert.deepEqual(
    sequences,
    sequences.toSorted((one, next) => one - next),
  );
  await until(
    async () => (await bank.webhooks.deliveries(endpointId, { state: 'WAITING' })).items.length === 0,
    'nothing waits',
  );
  await bank.webhooks.delete(endpointId);
});

test('parks an event after its tenth attempt, sends those behind it, and replays it', async () => {
  await using receiver = await startReceiver();
  const { endpointId } = await endpointTo(receiver);
  const poison = await pay('3.33');
  const isPoison = ({ event }: Receiver['received'][number]) => event.transferId === poison.id;
  receiver.respond = (webhook) => (isPoison(webhook) ? 500 : 204);
  for (let attempt = 1; attempt <= 10; attempt += 1) {
    await until(() => receiver.received.filter(isPoison).length >= attempt, `attempt ${attempt}`);
    // An event of other accounts is accepted in between, so that the endpoint counts as well.
    await bank.transfers.create({
      fromAccountId: 'a-1003-checking',
      toAccountId: 'a-1003-savings',
      amount: '0.01',
    });
    await until(() => receiver.accepted.length >= attempt, 'another event');
    now += 30 * 3_600_000;
  }
  const parked = (await bank.webhooks.deliveries(endpointId)).items;
  assert.deepEqual(
    parked.map(({ attempts }) => attempts),
    [10],
  );
  const behind = await pay('5.55');
  await until(
    () => receiver.accepted.some(({ event }) => event.transferId === behind.id),
    'the event behind it',
  );
  receiver.respond = () => 204;
  assert.deepEqual(await bank.webhooks.replay(endpointId, { parked: true }), { events: 1 });
  await until(() => receiver.accepted.some(isPoison), 'the parked event');
  assert.deepEqual((await bank.webhooks.deliveries(endpointId)).items, []);
  await bank.webhooks.delete(endpointId);
});

test('stops an endpoint after five failures, probes it, and loses nothing', async () => {
  await using receiver = await startReceiver();
  receiver.respond = () => 0;
  const { endpointId } = await endpointTo(receiver);
  for (let order = 0; order < 8; order += 1) {
    await bank.transfers.create({
      fromAccountId: `a-100${1 + (order % 3)}-checking`,
      toAccountId: `a-100${1 + (order % 3)}-savings`,
      amount: '0.02',
    });
  }
  await until(async () => {
    now += 10_000;
    return (await bank.webhooks.get(endpointId)).failures >= 5;
  }, 'five failures');
  const { status, nextAttemptAt } = await bank.webhooks.get(endpointId);
  assert.equal(status, 'ACTIVE');
  assert.ok(new Date(nextAttemptAt ?? 0).getTime() > now - 20_000);
  receiver.respond = () => 204;
  await until(() => {
    now += 60_000;
    return new Set(receiver.accepted.map(({ event }) => event.sequence)).size >= 8;
  }, 'all eight');
  assert.equal((await bank.webhooks.get(endpointId)).failures, 0);
  await bank.webhooks.delete(endpointId);
});

test('disables an endpoint that responds 410, and goes on from there when it is enabled', async () => {
  await using receiver = await startReceiver();
  receiver.respond = () => 410;
  const { endpointId } = await endpointTo(receiver);
  await pay();
  await until(async () => (await bank.webhooks.get(endpointId)).status === 'DISABLED', 'the end');
  assert.equal((await bank.webhooks.get(endpointId)).statusReason, 'gone');
  receiver.respond = () => 204;
  await bank.webhooks.update(endpointId, { status: 'ACTIVE' });
  await until(() => {
    now += 10_000;
    return receiver.accepted.length === 1;
  }, 'the refused event');
  await bank.webhooks.delete(endpointId);
});

test('signs with both secrets while they are being rotated', async () => {
  await using receiver = await startReceiver();
  const { endpointId, secret } = await endpointTo(receiver);
  const { secret: next } = await bank.webhooks.rotate(endpointId, { overlapHours: 1 });
  await assert.rejects(bank.webhooks.rotate(endpointId), { code: 'rotation_under_way' });
  await pay();
  await until(() => receiver.received.length === 1, 'a webhook');
  const [{ body, headers }] = receiver.received as [Receiver['received'][number]];
  now = Date.now();
  const options = { toleranceSeconds: 10 ** 9 };
  await webhooks.unwrap(body, headers as never, secret, options);
  await webhooks.unwrap(body, headers as never, next, options);
  now += 2 * 3_600_000 + 1_500_000_000;
  await pay();
  await until(() => receiver.received.length === 2, 'another webhook');
  const [, last] = receiver.received as [unknown, Receiver['received'][number]];
  await webhooks.unwrap(last.body, last.headers as never, next, options);
  await assert.rejects(webhooks.unwrap(last.body, last.headers as never, secret, options));
  await bank.webhooks.delete(endpointId);
});

test('pings an endpoint, also a paused one, and says what came back', async () => {
  await using receiver = await startReceiver();
  const { endpointId, secret } = await endpointTo(receiver);
  await bank.webhooks.update(endpointId, { status: 'PAUSED' });
  const attempt = await bank.webhooks.ping(endpointId);
  assert.deepEqual([attempt.delivered, attempt.status], [true, 204]);
  const [{ body, headers }] = receiver.received as [Receiver['received'][number]];
  const event = await webhooks.unwrap(body, headers as never, secret, { toleranceSeconds: 10 ** 10 });
  assert.equal(event.eventType, 'webhook.ping');
  receiver.respond = () => 503;
  assert.equal((await bank.webhooks.ping(endpointId)).error, 'status_503');
  await bank.webhooks.delete(endpointId);
});

test('sends everything again from a sequence, a time, or by ids, with the same ids', async () => {
  await using receiver = await startReceiver();
  const { endpointId, sequence } = await endpointTo(receiver);
  now += 1_000;
  const since = new Date(now);
  await pay();
  await pay();
  await until(() => receiver.accepted.length === 2, 'two webhooks');
  const ids = receiver.accepted.map(({ event }) => event.eventId);
  await until(async () => (await bank.webhooks.get(endpointId)).sequence === sequence + 2, 'the position');
  assert.deepEqual(await bank.webhooks.replay(endpointId, { from: sequence + 1 }), { events: 2 });
  await until(() => receiver.accepted.length === 4, 'both again');
  await until(async () => (await bank.webhooks.get(endpointId)).sequence === sequence + 2, 'the position');
  assert.deepEqual(await bank.webhooks.replay(endpointId, { eventIds: [ids[1] ?? ''] }), { events: 1 });
  await until(() => receiver.accepted.length === 5, 'one again');
  await until(
    async () => (await bank.webhooks.deliveries(endpointId, { state: 'WAITING' })).items.length === 0,
    'it is noted',
  );
  assert.deepEqual(await bank.webhooks.replay(endpointId, { since: since.toISOString() }), { events: 2 });
  await until(() => receiver.accepted.length === 7, 'both a third time');
  assert.deepEqual(
    receiver.accepted.map(({ event }) => event.eventId),
    [...ids, ...ids, ids[1], ...ids],
  );
  await assert.rejects(bank.webhooks.replay(endpointId, { eventIds: ['0-1-1'] }), {
    code: 'invalid_request',
  });
  await assert.rejects(bank.webhooks.replay(endpointId, {}), { code: 'invalid_request' });
  await bank.webhooks.delete(endpointId);
});

test('hides the endpoints of another client, and refuses a token without the scope', async () => {
  await using receiver = await startReceiver();
  const { endpointId } = await endpointTo(receiver);
  const reader = new Sharedraft({
    baseUrl: service.address,
    auth: clientCredentials({ clientId: 'demo-reader', clientSecret: 'demo-reader-secret' }),
  });
  await assert.rejects(reader.webhooks.list(), { code: 'insufficient_scope' });
  await service.db.superuser(
    `update clients set scopes = scopes || '{webhooks:manage}' where client_id = 'demo-backend'`,
  );
  const backend = new Sharedraft({
    baseUrl: service.address,
    auth: clientCredentials({ clientId: 'demo-backend', clientSecret: 'demo-backend-secret' }),
  });
  assert.deepEqual(await backend.webhooks.list(), []);
  for (const act of [
    () => backend.webhooks.get(endpointId),
    () => backend.webhooks.update(endpointId, { status: 'PAUSED' }),
    () => backend.webhooks.delete(endpointId),
    () => backend.webhooks.rotate(endpointId),
    () => backend.webhooks.ping(endpointId),
    () => backend.webhooks.replay(endpointId, { from: 1 }),
    () => backend.webhooks.attempts(endpointId),
    () => backend.webhooks.deliveries(endpointId),
  ]) {
    await assert.rejects(async () => act(), NotFoundError);
  }
  assert.equal((await bank.webhooks.list()).length, 1);
  await bank.webhooks.delete(endpointId);
  await assert.rejects(bank.webhooks.get(endpointId), NotFoundError);
});

test('keeps the last hundred successes of an endpoint, and failures for thirty days', async () => {
  await using receiver = await startReceiver();
  const { endpointId } = await endpointTo(receiver);
  receiver.respond = () => 500;
  await bank.webhooks.ping(endpointId);
  receiver.respond = () => 204;
  await Promise.all(Array.from({ length: 110 }, () => pay('0.01')));
  await until(() => receiver.accepted.length >= 110, 'all webhooks');
  await until(async () => (await bank.webhooks.get(endpointId)).failures === 0, 'the note');
  const logged = async () => {
    const delivered: boolean[] = [];
    for await (const attempt of bank.webhooks.attempts(endpointId, { limit: 50 }))
      delivered.push(attempt.delivered);
    return delivered;
  };
  await until(async () => (await logged()).length === 101, 'the trimmed log');
  assert.equal((await logged()).filter((delivered) => !delivered).length, 1);
  now += 31 * 86_400_000;
  await runMaintenance(service.service.context, () => {});
  assert.equal((await logged()).length, 0);
  await bank.webhooks.delete(endpointId);
});

test('audits each change of an endpoint with its values before and after', async () => {
  await using receiver = await startReceiver();
  const { endpointId } = await endpointTo(receiver);
  await bank.webhooks.update(endpointId, { status: 'PAUSED' });
  await bank.webhooks.delete(endpointId);
  const entries = await service.db.superuser<{ action: string; before_change: object; after_change: object }>(
    'select action, before_change, after_change from audit_entries where subject = $1 order by audit_key',
    [endpointId],
  );
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['webhook.created', 'webhook.changed', 'webhook.deleted'],
  );
  assert.deepEqual(entries[1]?.before_change, { status: 'ACTIVE', statusReason: null });
  assert.ok(!JSON.stringify(entries).includes('whsec_'));
});
