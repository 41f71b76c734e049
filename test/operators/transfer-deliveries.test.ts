import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { clientCredentials, password, Sharedraft } from '../../client/src/index.ts';
import { stateOf } from '../../src/operators/transfers/deliveries.ts';
import { runCli } from '../support/cli.ts';
import { demoAddress, operatorOf, type TestOperator } from '../support/operators.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { startReceiver, until } from '../webhooks/receiver.ts';

/* The webhook deliveries of a transfer, as its operators see them. */

const app = { clientId: 'demo-app', clientSecret: 'demo-app-secret' };
let service: TestService;
let bank: Sharedraft;
let member: Sharedraft;
let viewer: TestOperator;

before(async () => {
  service = await startTestService({ environment: demoAddress });
  bank = new Sharedraft({ baseUrl: service.address, auth: clientCredentials(app) });
  const demo = { username: 'demo.member', password: 'demo-member-password' };
  member = new Sharedraft({ baseUrl: service.address, auth: password(app, demo) });
  viewer = await operatorOf(service, 'Demo viewer');
});
after(() => service.close());

const accounts = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings' };

interface Shown {
  readonly endpointId: string;
  readonly state: string;
  readonly behind: number | null;
  readonly attempts: number;
  readonly lastAttempt: { readonly delivered: boolean; readonly status: number | null } | null;
  readonly nextAttemptAt: string | null;
}

/** The deliveries of the one event of a transfer, by webhook. */
async function deliveriesOf(id: string): Promise<ReadonlyMap<string, Shown>> {
  const { events } = (await viewer.get(`/transfers/${id}`)).body;
  assert.deepEqual(
    events.map(({ eventType }: { eventType: string }) => eventType),
    ['transfer.completed'],
  );
  return new Map(events[0].deliveries.map((one: Shown) => [one.endpointId, one]));
}

test('shows of each webhook whether it has accepted the event of a transfer, refuses it, or has still to get it', async () => {
  await using good = await startReceiver();
  await using broken = await startReceiver();
  broken.respond = () => 500;
  const created = async (url: string, more: object = {}) =>
    (await bank.webhooks.create({ url, ...more })).endpointId;
  const accepts = await created(good.url);
  const fails = await created(broken.url);
  const others = await created(good.url, { eventTypes: ['transfer.failed'] });
  const pauses = await created(good.url);
  await bank.webhooks.update(pauses, { status: 'PAUSED' });
  const { id } = await member.transfers.create({ id: 'delivered-1', amount: '1.25', ...accounts });

  // Successes are logged every five seconds.
  const wanted = {
    accepts: 'DELIVERED',
    fails: 'WAITING',
    others: 'NOT_SUBSCRIBED',
    pauses: 'BEHIND',
    newer: 'NEWER',
  };
  let shown = await deliveriesOf(id);
  await until(async () => {
    shown = await deliveriesOf(id);
    return shown.get(accepts)?.state === 'DELIVERED' && shown.get(fails)?.attempts === 1;
  }, 'the attempts in the log');
  // A webhook begins behind the events that the feed shows, and this one shows now.
  const newer = await created(good.url);
  shown = await deliveriesOf(id);
  const ids = Object.entries({ accepts, fails, others, pauses, newer });
  assert.deepEqual(Object.fromEntries(ids.map(([name, one]) => [name, shown.get(one)?.state])), wanted);
  const [done, refused, waits] = [accepts, fails, pauses].map((one) => shown.get(one));
  assert.deepEqual([done?.attempts, done?.lastAttempt?.status, done?.behind], [1, 204, null]);
  assert.deepEqual([refused?.lastAttempt?.delivered, refused?.lastAttempt?.status], [false, 500]);
  assert.ok(refused?.nextAttemptAt);
  assert.ok((waits?.behind ?? 0) >= 1);
  assert.equal(waits?.attempts, 0);

  // The paused one is behind on purpose, and no lag; the one that is refused is.
  const { webhooks } = (await viewer.get('/today')).body;
  assert.ok(webhooks.eventsBehind >= 1);
  assert.ok(webhooks.lagSeconds >= 0 && webhooks.lagSeconds < 3_600);
  await bank.webhooks.update(fails, { status: 'PAUSED' });
  await until(async () => {
    const { eventsBehind, lagSeconds } = (await viewer.get('/today')).body.webhooks;
    return eventsBehind === 0 && lagSeconds === null;
  }, 'the active webhooks to be level');
  await bank.webhooks.update(fails, { status: 'ACTIVE' });
  const ofHarbor = (await (await operatorOf(service, 'Demo viewer', 'harbor')).get('/today')).body;
  assert.deepEqual([ofHarbor.webhooks.eventsBehind, ofHarbor.webhooks.lagSeconds], [0, null]);

  const table = await runCli(service.db, ['transfer', 'show', id, '--institution', 'lakeside']);
  assert.match(table.stdout, new RegExp(`^transfer.completed +\\d+ +${good.url} +DELIVERED +1 +204 `, 'm'));
  assert.match(table.stdout, new RegExp(`^transfer.completed +\\d+ +${broken.url} +WAITING +1 +500 `, 'm'));
  const harbor = await operatorOf(service, 'Demo viewer', 'harbor');
  assert.equal((await harbor.get(`/transfers/${id}`)).status, 404);
  for (const [, one] of ids) await bank.webhooks.delete(one);
  assert.deepEqual([...(await deliveriesOf(id))], []);
});

/** Events of another transfer, an hour away. */
const insertOthers = (side: '-' | '+') =>
  service.db.superuser(
    `insert into outbox (institution_id, kind, subject_key, recorded_at)
     select institution_id, 'account.changed', 0, now() ${side} interval '1 hour' from institutions, generate_series(1, 1500)
     where code = 'lakeside'`,
  );

/** Marks as the maintenance makes them. No older transaction may run when a mark is made. */
async function mark(least: number): Promise<void> {
  await until(async () => {
    const marks = await service.db
      .superuser(
        `insert into event_marks (institution_id, number, epoch, xid, event_key)
         select institution_id, number, epoch, xid, event_key
         from (select o.*, row_number() over (partition by institution_id order by epoch, xid, event_key) as number from outbox o) o
         where number % 500 = 0 on conflict do nothing`,
      )
      .then(() => service.db.superuser('select from event_marks'))
      .catch(() => []);
    return marks.length >= least;
  }, 'marks of the events');
}

test('finds the event of a transfer by its moment among thousands of others', async () => {
  await insertOthers('-');
  await mark(3);
  const { id } = await member.transfers.create({ id: 'among-1', amount: '1.00', ...accounts });
  const [event, more] = (await viewer.get(`/transfers/${id}`)).body.events;
  assert.ok(event.sequence > 1_500);
  assert.equal(more, undefined);
  await insertOthers('+');
  await mark(6);
  const { events } = (await viewer.get(`/transfers/${id}`)).body;
  assert.deepEqual(events, [event]);
});

test('never calls an event delivered because a webhook is past it: the type may not have been wanted then', () => {
  const at = new Date('2026-11-25T12:00:00Z');
  const event = { eventType: 'transfer.completed', sequence: 7n, at };
  const endpoint = { eventTypes: null, number: 7n, createdAt: new Date('2026-11-01T00:00:00Z') };
  assert.equal(stateOf(event, endpoint, {}), 'PASSED');
  assert.equal(stateOf(event, endpoint, { tried: { delivered: false } }), 'PASSED');
  assert.equal(stateOf(event, endpoint, { tried: { delivered: true } }), 'DELIVERED');
  assert.equal(
    stateOf(event, endpoint, { waiting: { state: 'PARKED' }, tried: { delivered: true } }),
    'PARKED',
  );
  assert.equal(stateOf(event, { ...endpoint, number: 6n }, {}), 'BEHIND');
  assert.equal(stateOf(event, { ...endpoint, createdAt: new Date('2026-11-26T00:00:00Z') }, {}), 'NEWER');
  const ofOthers = { ...endpoint, number: 6n, eventTypes: ['transfer.failed'] };
  assert.equal(stateOf(event, ofOthers, {}), 'NOT_SUBSCRIBED');
});
