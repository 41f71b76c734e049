import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { appendEvents, beginEpoch, markEventNumbers, ownOrigin } from '../../src/events/index.ts';
import { type FeedEvent, findEvent, readEvents } from '../../src/feed/index.ts';
import {
  type ArchiveStep,
  archiveOldestEvents,
  EventsNeededError,
  openArchiveDatabase,
} from '../../src/operators/index.ts';
import { reconcile, reconcileChanges } from '../../src/reconciliation/index.ts';
import type { Database, InstitutionId } from '../../src/storage/index.ts';
import { changeWebhook, createWebhook, replayWebhook } from '../../src/webhooks/index.ts';
import { type DemoCaller, memberOf, paths } from '../support/demo.ts';
import { deskOf, eventually } from '../support/desk.ts';
import { fillPartition, ownerOf, reconcileAll, startArchive, untilRead } from '../support/event-archive.ts';
import { commandOf } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* The oldest partition of events becomes a file, and is dropped. An owner does that who is bound by row-level security, as in production. */

const clock = () => new Date();
let service: TestService;
let owner: Awaited<ReturnType<typeof ownerOf>>;
let archive: Database;
let folder: string;
let member: DemoCaller;
let institutionId: InstitutionId;

before(async () => {
  service = await startTestService();
  owner = await ownerOf(service);
  archive = openArchiveDatabase(owner.connection);
  folder = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-archive-'));
  member = await memberOf(service, 'demo.member', 'demo-member-password');
  await using desk = await deskOf(service);
  ({ institutionId } = desk);
});
after(async () => {
  await archive.close();
  await service.close();
  await owner.drop();
  await rm(folder, { recursive: true, force: true });
});

const database = () => service.service.context.database;
const webhooks = () => service.service.context.webhooks;

const pay = async (id: string) => {
  const order = { id, fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 1.25 };
  const answer = await member.post(paths.transfers, order);
  assert.equal(answer.status, 201, answer.text);
};

const archiveNow = (onStep?: (step: ArchiveStep) => Promise<void>, days = 0) =>
  archiveOldestEvents(
    { database: archive, clock, origin: commandOf('olive'), ...(onStep && { onStep }) },
    { folder, days },
  );

async function readAll(): Promise<FeedEvent[]> {
  const events: FeedEvent[] = [];
  for (let position: FeedEvent['position'] | null = null; ; ) {
    const { items, next } = await readEvents(database(), institutionId, { after: position, limit: 7 });
    if (items.length === 0) return events;
    events.push(...items);
    position = next;
  }
}

const needsOf = (archiving: Promise<unknown>) =>
  archiving.then(
    () => assert.fail('nothing is needed'),
    (error: unknown) => {
      assert.ok(error instanceof EventsNeededError, String(error));
      return [...new Set(error.needs.map(({ need }) => need))].toSorted();
    },
  );

const problemOf = (work: Promise<unknown>) =>
  work.then(
    () => 'read',
    (error: { readonly code?: string; readonly detail?: string }) => `${error.code}: ${error.detail}`,
  );
const archived = 'invalid_request: The events at this place are in the archive.';

async function webhookOf() {
  const caller = { institutionId, clientId: 'demo-app', origin: ownOrigin() };
  const { endpoint } = await createWebhook(webhooks(), caller, {
    ...{ url: 'http://127.0.0.1:9/hook', description: null, eventTypes: null },
    ...{ payload: 'THIN', ordering: 'ACCOUNT' },
  });
  const { endpointId } = endpoint;
  await changeWebhook(webhooks(), caller, { endpointId, change: { status: 'PAUSED' } });
  return {
    endpointId,
    replay: (replay: Parameters<typeof replayWebhook>[2]['replay']) =>
      replayWebhook(webhooks(), caller, { endpointId, replay }),
  };
}

let before1: FeedEvent[];
let endpoint: Awaited<ReturnType<typeof webhookOf>>;

test('a partition that still takes events, or has a young one, stays', async () => {
  endpoint = await webhookOf();
  for (const id of ['first', 'second', 'third']) await pay(id);
  await service.db.superuser(
    `insert into outbox (institution_id, kind, subject_key, recorded_at, secret, secret_expires_at)
     values ($1, 'member.activation_requested', 1, now(), '\\x00', now() + interval '1 hour')`,
    [institutionId],
  );
  await untilRead(service);
  assert.equal(await archiveNow(), undefined);
  await fillPartition(service, institutionId);
  await pay('fourth');
  assert.equal(await archiveNow(undefined, 1), undefined);
});

test('a reader that is behind keeps the events, and the refusal names each', async () => {
  await untilRead(service);
  assert.deepEqual(await needsOf(archiveNow()), ['reconcile', 'secret', 'webhook']);
  await service.db.superuser(
    'update outbox set secret = null, secret_expires_at = null where secret is not null',
  );
  await reconcileAll(service);
  assert.deepEqual(await needsOf(archiveNow()), ['webhook']);
  before1 = await readAll();
  const last = before1.at(-1);
  assert.ok(last !== undefined);
  const [epoch, xid, key] = last.position;
  await service.db.superuser(
    `update webhook_endpoints set epoch = $2, xid = $3::xid8, event_key = $4, number = $5 where endpoint_id = $1`,
    [endpoint.endpointId, epoch, String(xid), key, last.sequence],
  );
  const first = before1[0] as FeedEvent;
  await service.db.superuser(
    `insert into webhook_deliveries (institution_id, endpoint_id, number, epoch, xid, event_key, lanes, state, attempts, created_at)
     values ($1, $2, $3, $4, $5::xid8, $6, '{x}', 'PARKED', 3, now())`,
    [
      institutionId,
      endpoint.endpointId,
      first.sequence,
      first.position[0],
      String(first.position[1]),
      first.position[2],
    ],
  );
  assert.deepEqual(await needsOf(archiveNow()), ['delivery']);
  await service.db.superuser('delete from webhook_deliveries');
  await service.db.superuser(
    `update institutions set served = 'leaving', other_cell = 'west' where institution_id = $1`,
    [institutionId],
  );
  assert.deepEqual(await needsOf(archiveNow()), ['served']);
  await service.db.superuser(
    `update institutions set served = 'here', other_cell = null where institution_id = $1`,
    [institutionId],
  );
  assert.deepEqual(
    await service.db.superuser('select from event_partitions where closed_at is not null'),
    [],
  );
});

test('an archive that is killed after any step goes on, and the feed begins behind its events', async () => {
  // It may still read the partition after it was closed.
  const old = new pg.Client(service.db.owner);
  await old.connect();
  await old.query('begin');
  await old.query('select pg_current_xact_id()');
  const killed = (at: ArchiveStep) =>
    assert.rejects(
      archiveNow(async (step) => {
        if (step === at) throw new Error(`killed when ${at}`);
      }),
      new Error(`killed when ${at}`),
    );
  await killed('closed');
  const ofPartition = await service.db.superuser<{ id: string }>(
    `select format('%s-%s-%s', epoch, xid, event_key) as id from outbox_1 where institution_id = $1`,
    [institutionId],
  );
  const places = before1.map(({ position }) => position);
  assert.equal(ofPartition.length, before1.length - 1);
  await old.query('commit');
  await eventually(
    async () => (await readAll()).length,
    (count) => count > 0,
  );
  assert.deepEqual(await readAll(), before1.slice(-1));
  await old.query('begin');
  await old.query('select pg_current_xact_id()');
  assert.equal(
    await problemOf(readEvents(database(), institutionId, { after: places[0] ?? null, limit: 5 })),
    archived,
  );

  await killed('written');
  await writeFile(path.join(folder, (await readdir(folder))[0] ?? ''), 'a file that was cut');
  await killed('recorded');
  await reconcileAll(service);
  await old.query('commit');
  await old.end();
  // An event that came after the file was written.
  await service.db.superuser(
    `insert into outbox_1 (institution_id, event_key, kind, subject_key, recorded_at) overriding system value
     values ($1, 999999, 'member.activated', 1, now())`,
    [institutionId],
  );
  await assert.rejects(archiveNow(), { code: 'SD161' });
  await service.db.superuser('delete from outbox_1 where event_key = 999999');
  const done = await archiveNow();
  assert.ok(done !== undefined);
  assert.deepEqual(await service.db.superuser(`select from pg_class where relname = 'outbox_1'`), []);
  assert.equal(await archiveNow(), undefined);

  const bytes = await readFile(done.file);
  assert.equal(createHash('sha256').update(bytes).digest('hex'), done.sha256);
  const lines = bytes
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(BigInt(lines.length), done.events);
  assert.deepEqual(
    lines
      .filter((line) => line.institution_id === institutionId)
      .map(({ epoch, xid, event_key }) => `${epoch}-${xid}-${event_key}`)
      .toSorted(),
    ofPartition.map(({ id }) => id).toSorted(),
  );

  for (const place of places.slice(0, -2)) {
    assert.equal(
      await problemOf(readEvents(database(), institutionId, { after: place, limit: 5 })),
      archived,
    );
  }
  const behind = before1.at(-2) as FeedEvent;
  const { items } = await readEvents(database(), institutionId, { after: behind.position, limit: 5 });
  assert.deepEqual(items, before1.slice(-1));
  await assert.rejects(readEvents(database(), institutionId, { from: behind.sequence, limit: 5 }), {
    errors: [
      { pointer: 'from', detail: `Read from sequence ${behind.sequence + 1n} on, or from the beginning.` },
    ],
  });
  const from = await readEvents(database(), institutionId, { from: behind.sequence + 1n, limit: 5 });
  assert.deepEqual(from.items, before1.slice(-1));
  assert.equal(await database().read(institutionId, (db) => findEvent(db, behind.eventId)), undefined);
});

test('a partition is dropped once no transaction from before its closing runs', async () => {
  const old = new pg.Client(service.db.owner);
  await old.connect();
  const [closing] = await service.db.superuser<{ first: bigint; digest: Buffer }>(
    'select first_key as first, digest from event_partitions where first_key = 1',
  );
  assert.ok(closing !== undefined);
  await old.query('begin');
  await old.query('select pg_current_xact_id()');
  await service.db.superuser(
    'update event_partitions set dropped_at = null, closed_xid = pg_current_xact_id() where first_key = 1',
  );
  const drop = () =>
    service.db.superuser<{ dropped: boolean }>('select drop_event_partition(1, $1) as dropped', [
      closing.digest,
    ]);
  assert.deepEqual(await drop(), [{ dropped: false }]);
  await old.query('commit');
  await old.end();
  // Now it goes on to the table, which is gone.
  await eventually(
    () => drop().then(String, (error) => String(error.code)),
    (code) => code === '42P01',
  );
  await service.db.superuser('update event_partitions set dropped_at = now() where first_key = 1');
  await assert.rejects(service.db.superuser('select close_event_partition(1)'), { code: 'SD160' });
  await assert.rejects(service.db.superuser('select close_event_partition(2000001)'), { code: 'SD160' });
  await assert.rejects(service.db.superuser(`select drop_event_partition(1000001, '')`), { code: 'SD161' });
});

test('the books, the audit and webhooks know of the archive', async () => {
  await reconcileAll(service);
  await pay('fifth');
  const [run] = await service.db.superuser<{ at: Date; epoch: bigint; xid: string }>(
    `select checkpoint_at as at, checkpoint_epoch as epoch, checkpoint_xid::text as xid from reconcile_runs where institution_id = $1`,
    [institutionId],
  );
  assert.ok(run !== undefined);
  const findings: { readonly check: string }[] = [];
  const onFinding = (finding: { readonly check: string }) => findings.push(finding);
  await reconcileChanges(database(), institutionId, run, { onFinding });
  assert.deepEqual(findings, []);
  // An event that is missing and not in the archive is still noticed.
  await service.db.superuser(
    `delete from outbox where institution_id = $1 and event_key = (
       select max(event_key) from outbox where institution_id = $1 and kind = 'transfer.completed')`,
    [institutionId],
  );
  await reconcile(database(), institutionId, { onFinding });
  assert.deepEqual(
    findings.map(({ check }) => check),
    ['event-gap', 'event-gap'],
  );

  const { sequence } = before1.at(-2) as FeedEvent;
  await assert.rejects(endpoint.replay({ from: sequence }), {
    errors: [
      { pointer: '/from', detail: `Is in the archive. The feed begins at sequence ${sequence + 1n}.` },
    ],
  });
  await assert.rejects(endpoint.replay({ eventIds: [before1[0]?.eventId ?? ''] }), {
    errors: [{ pointer: '/eventIds/0', detail: 'Is no event of the feed, or is in the archive.' }],
  });
  assert.deepEqual(await endpoint.replay({ since: new Date(0) }), { events: 1 });
  const [position] = await service.db.superuser<{ number: bigint }>(
    'select number from webhook_endpoints where endpoint_id = $1',
    [endpoint.endpointId],
  );
  assert.equal(position?.number, sequence);
  const entries = await service.db.superuser<{ action: string }>(
    `select action from audit_entries where action in ('events.closed', 'events.archived') and institution_id = 0
     order by audit_key`,
  );
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['events.closed', 'events.archived'],
  );
});

test('numbers go on from the archive, with and without marks', async () => {
  const first = (await readAll())[0]?.sequence;
  assert.ok(first !== undefined);
  const many = Array.from({ length: 1_100 }, (_, index) => ({
    kind: 'member.activated',
    subjectKey: BigInt(index),
  }));
  await database().transaction(institutionId, (tx) => appendEvents(tx, many, clock()));
  await eventually(
    async () => (await readAll()).length,
    (count) => count > 1_100,
  );
  const shown = await readAll();
  const numbers = shown.map((_, index) => first + BigInt(index));
  const read = (events: readonly FeedEvent[]) => events.map(({ sequence }) => sequence);
  assert.deepEqual(read(shown), numbers);
  await database().write(institutionId, markEventNumbers);
  const marks = await service.db.superuser<{ number: bigint }>(
    'select number from event_marks where institution_id = $1 order by number',
    [institutionId],
  );
  assert.deepEqual(
    marks.map(({ number }) => number),
    [first - 1n, 500n, 1_000n],
  );
  assert.deepEqual(read((await readAll()).slice(0, numbers.length)), numbers);
});

test('an institution whose events are all in the archive begins its epochs behind them', async () => {
  const [other] = await service.db.superuser<{ id: InstitutionId; epoch: number; xid: string }>(
    `select h.institution_id as id, h.epoch, h.xid::text as xid from event_horizons h
     where not exists (select from outbox o where o.institution_id = h.institution_id) limit 1`,
  );
  assert.ok(other !== undefined);
  await beginEpoch(database(), other.id, clock, commandOf('olive'));
  const [epoch] = await service.db.superuser<{ epoch: number; last: string }>(
    'select epoch, last_before::text as last from event_epochs where institution_id = $1',
    [other.id],
  );
  assert.deepEqual(epoch, { epoch: other.epoch + 1, last: other.xid });
  assert.deepEqual((await readEvents(database(), other.id, { after: null, limit: 5 })).items, []);
});

test('the service can neither close nor drop a partition', async () => {
  for (const call of [
    'close_event_partition(1)',
    `drop_event_partition(1, '')`,
    'event_partition_needs(1, 0)',
  ]) {
    const refused = database().directory((db) => db.query({ name: '', text: `select ${call}` }));
    await assert.rejects(refused, { code: '42501' });
  }
});

test('the command needs the login of the owner, and says that no events are old enough', async () => {
  const command = (url: string) => startArchive(service, { folder, url }).output;
  const [byOwner, byService] = await Promise.all([command(owner.url), command(service.db.url)]);
  assert.match(byOwner, /No partition has only events older than 400 days\./);
  assert.match(byService, /Only the owner of the database archives its events: set MIGRATION_DATABASE_URL\./);
});
