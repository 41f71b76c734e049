import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { clientCredentials, password, Sharedraft } from '../../client/src/index.ts';
import type { FeedEvent } from '../../src/feed/index.ts';
import type { Database, InstitutionId } from '../../src/storage/index.ts';
import { deliver } from '../../src/webhooks/delivery/deliver.ts';
import { DeliveryNotes } from '../../src/webhooks/delivery/delivery-notes.ts';
import { LoopTurns } from '../../src/webhooks/delivery/loop-turns.ts';
import { SharedFeed } from '../../src/webhooks/delivery/shared-feed.ts';
import type { Posted } from '../../src/webhooks/https/post.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from './receiver.ts';

/* Deliveries to a receiver with a clock of the test's own. */

const app = { clientId: 'demo-app', clientSecret: 'demo-app-secret' };
const accepted: Posted = {
  ...{ status: 204, error: undefined, response: '', retryAfterSeconds: undefined, durationMillis: 1 },
};
let service: TestService;
let bank: Sharedraft;
let member: Sharedraft;
let now = Date.now();

before(async () => {
  service = await startTestService();
  bank = new Sharedraft({ baseUrl: service.address, auth: clientCredentials(app) });
  const demo = { username: 'demo.member', password: 'demo-member-password' };
  member = new Sharedraft({ baseUrl: service.address, auth: password(app, demo) });
});
after(() => service.close());

/** An endpoint with events to send. For a day, the service's own sender believes that another process sends to it. */
async function endpointWith(events: number): Promise<string> {
  const created = await bank.webhooks.create({ url: 'http://127.0.0.1:1/', ordering: 'STRICT' });
  const { endpointId, sequence } = created;
  await service.db.superuser(
    `update webhook_endpoints set leased_by = gen_random_uuid(), lease_until = now() + interval '1 day'
     where endpoint_id = $1`,
    [endpointId],
  );
  now = Date.now() + 2 * 86_400_000;
  const order = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: '0.01' };
  for (let event = 0; event < events; event += 1) await member.transfers.create(order);
  await until(async () => {
    const shown = await bank.events.read({ from: sequence + 1, limit: 200 });
    return shown.events.length === events;
  }, 'all events in the feed');
  return endpointId;
}

/** A process that delivers once. `receive` gets the id of each event and accepts it. */
async function deliverAs(
  processId: string,
  endpointId: string,
  {
    receive,
    isStopping = () => false,
  }: {
    /** Returns the receiver's response; without one it accepts the event. */
    readonly receive: (id: string) => Promise<void> | Posted | undefined | void;
    readonly isStopping?: () => boolean;
  },
): Promise<void> {
  const context = { ...service.service.context.webhooks, clock: () => new Date(now) };
  const deps = {
    ...context,
    sendOf: async () => async (event: FeedEvent) => (await receive(event.eventId)) ?? accepted,
    notes: new DeliveryNotes(context, processId),
    feed: new SharedFeed(context.database),
    turns: new LoopTurns(4),
  };
  const { institution } = await placeOf(endpointId);
  await deliver(deps, institution, { endpointId, isStopping });
}

async function placeOf(endpointId: string) {
  const [row] = await service.db.superuser<{
    institution: InstitutionId;
    epoch: bigint;
    xid: string;
    event_key: bigint;
    number: bigint;
  }>(
    `select institution_id as institution, epoch, xid::text as xid, event_key, number from webhook_endpoints
     where endpoint_id = $1`,
    [endpointId],
  );
  assert.ok(row !== undefined);
  const position = [BigInt(row.epoch), BigInt(row.xid), BigInt(row.event_key)];
  return { institution: row.institution, place: { position, number: BigInt(row.number) } };
}

const processes = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'] as const;

test('ends a batch before its lease, so that a slow receiver gets no event from two processes', async () => {
  const endpointId = await endpointWith(70);
  const began = now;
  const received: string[] = [];
  await deliverAs(processes[0], endpointId, {
    receive: async (id) => {
      received.push(id);
      now += 1_000;
      // Another process looks for work all the time.
      await deliverAs(processes[1], endpointId, { receive: (other) => void received.push(other) });
    },
  });
  assert.equal(now - began, 70_000, 'longer than a lease');
  assert.equal(new Set(received).size, 70);
  assert.equal(received.length, 70, 'no event came twice');
  await bank.webhooks.delete(endpointId);
});

test('sends no more of a batch when the process stops, and the next process goes on from there', async () => {
  const endpointId = await endpointWith(5);
  const received: string[] = [];
  const receive = (id: string) => void received.push(id);
  await deliverAs(processes[0], endpointId, { receive, isStopping: () => received.length === 2 });
  assert.equal(received.length, 2);
  await deliverAs(processes[1], endpointId, { receive });
  assert.equal(received.length, 5);
  assert.equal(new Set(received).size, 5);
  await bank.webhooks.delete(endpointId);
});

test('gives the lease back when the endpoint has to wait, so that the next attempt comes in time', async () => {
  const endpointId = await endpointWith(2);
  const refused: Posted = { ...accepted, status: 503, error: 'status_503', retryAfterSeconds: 10 };
  await deliverAs(processes[0], endpointId, { receive: () => refused });
  const [endpoint] = await service.db.superuser<{ until: Date | null; next: Date }>(
    'select lease_until as until, next_attempt_at as next from webhook_endpoints where endpoint_id = $1',
    [endpointId],
  );
  assert.equal(endpoint?.until, null);
  assert.ok(Number(endpoint?.next) >= now + 10_000);
  now += 15_000;
  const received: string[] = [];
  await deliverAs(processes[1], endpointId, { receive: (id) => void received.push(id) });
  assert.equal(received.length, 2);
  await bank.webhooks.delete(endpointId);
});

test('reads the feed once for all endpoints at a place, and again where the database was put back', async () => {
  const endpointId = await endpointWith(5);
  const { institution, place } = await placeOf(endpointId);
  const { database } = service.service.context;
  let reads = 0;
  const counted = {
    read: (...asked: Parameters<Database['read']>) => {
      reads += 1;
      return database.read(...asked);
    },
  } as Database;
  const feed = new SharedFeed(counted);
  const pages = await Promise.all([1, 2, 3].map(() => feed.behind(institution, place)));
  assert.deepEqual(
    pages.map((page) => page.length),
    [5, 5, 5],
  );
  const [, second] = pages[0] ?? [];
  assert.ok(second !== undefined);
  const later = { position: second.position, number: second.sequence };
  assert.equal((await feed.behind(institution, later)).length, 3);
  assert.equal(reads, 1);
  // The same number at another position: an event that this page does not have stood there.
  const [epoch = 0n, xid = 0n] = second.position;
  await feed.behind(institution, { position: [epoch, xid - 1n, 0n], number: second.sequence });
  assert.equal(reads, 2);
  await bank.webhooks.delete(endpointId);
});
