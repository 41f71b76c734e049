import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import pg from 'pg';
import { readEvents } from '../../src/feed/index.ts';
import { type DemoCaller, memberOf, paths } from '../support/demo.ts';
import { deskOf, eventually } from '../support/desk.ts';
import { fillPartition, ownerOf, reconcileAll, startArchive, untilRead } from '../support/event-archive.ts';
import { waitUntilLocked } from '../support/locks.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* The command that archives events gets kill -9 wherever it can be made to wait. */

let service: TestService;
let owner: Awaited<ReturnType<typeof ownerOf>>;
let member: DemoCaller;
let folder: string;

before(async () => {
  service = await startTestService();
  owner = await ownerOf(service);
  member = await memberOf(service, 'demo.member', 'demo-member-password');
  folder = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-archive-'));
});
after(async () => {
  await service.close();
  await owner.drop();
  await rm(folder, { recursive: true, force: true });
});

const start = () => startArchive(service, { folder, url: owner.url });

/** Holds the lock until the command waits for it with a statement of these words, and kills the command. */
async function killWaiting(lock: string, words: string): Promise<void> {
  const holder = new pg.Client(service.db.owner);
  await holder.connect();
  await holder.query('begin');
  await holder.query(lock);
  const { child, output } = start();
  try {
    await waitUntilLocked(service.db, words);
    child.kill('SIGKILL');
    await output;
    assert.equal(child.signalCode, 'SIGKILL');
  } finally {
    child.kill('SIGKILL');
    await holder.end();
  }
  // The server notices later that its client is gone, and may finish the statement first.
  await eventually(
    () =>
      service.db.superuser(
        `select from pg_stat_activity where datname = current_database() and application_name = 'sharedraft archive'`,
      ),
    (sessions) => sessions.length === 0,
  );
}

const step = async () =>
  (
    await service.db.superuser<{ step: string }>(
      `select case when dropped_at is not null then 'dropped' when written_at is not null then 'written'
                   when closed_at is not null then 'closed' else 'open' end as step
       from event_partitions order by first_key limit 1`,
    )
  )[0]?.step;

async function pay(id: string): Promise<void> {
  const order = { id, fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 1.25 };
  const answer = await member.post(paths.transfers, order);
  assert.equal(answer.status, 201, answer.text);
}

test('the command is finished by the next one after a kill at any wait, and each event is in the file or in the feed', async () => {
  await using desk = await deskOf(service);
  const { institutionId } = desk;
  const { database } = service.service.context;
  for (const id of ['first', 'second', 'third']) await pay(id);
  await untilRead(service);
  await fillPartition(service, institutionId);
  await pay('fourth');
  await service.db.superuser(
    `update outbox set recorded_at = recorded_at - interval '500 days' where event_key <= 1000000`,
  );
  await untilRead(service);
  await reconcileAll(service);
  const { items: before1 } = await readEvents(database, institutionId, { after: null, limit: 500 });
  const [counted] = await service.db.superuser<{ events: number }>(
    'select count(*)::integer as events from outbox_1',
  );

  await killWaiting('lock table webhook_endpoints in row exclusive mode', 'lock table webhook_endpoints');
  assert.equal(await step(), 'open');

  // A pipe that is opened for writing waits for a reader.
  const partial = path.join(folder, 'events-1-1000000.jsonl.part');
  await promisify(execFile)('mkfifo', [partial]);
  const writing = start();
  await eventually(step, (reached) => reached === 'closed');
  writing.child.kill('SIGKILL');
  await writing.output;
  await rm(partial);
  await mkdir(partial);
  const failed = start();
  assert.match(await failed.output, /EISDIR/);
  assert.equal(failed.child.exitCode, 1);
  await rmdir(partial);
  await writeFile(partial, 'a file that was cut');
  assert.equal(await step(), 'closed');

  await killWaiting('select from event_partitions for update', 'update event_partitions');
  assert.deepEqual(await readdir(folder), ['events-1-1000000.jsonl']);

  await killWaiting('select from outbox_1 limit 1', 'drop_event_partition');
  assert.equal(await step(), 'written');
  await pay('fifth');

  const { child, output } = start();
  const said = await output;
  assert.equal(child.exitCode, 0, said);
  assert.equal(await step(), 'dropped');
  const bytes = await readFile(path.join(folder, 'events-1-1000000.jsonl'));
  assert.ok(said.includes(createHash('sha256').update(bytes).digest('hex')), said);
  const lines = bytes.toString().trimEnd().split('\n');
  assert.equal(lines.length, counted?.events);
  const archived = lines
    .map((line) => JSON.parse(line))
    .filter(({ institution_id }) => institution_id === institutionId)
    .map(({ epoch, xid, event_key }) => `${epoch}-${xid}-${event_key}`);
  await eventually(
    () => readEvents(database, institutionId, { after: null, limit: 500 }),
    ({ items }) => {
      const shown = items.map(({ position }) => position.join('-'));
      const all = before1.map(({ position }) => position.join('-'));
      return (
        shown.length > 1 &&
        all.every((one) => Number(shown.includes(one)) + Number(archived.includes(one)) === 1)
      );
    },
  );
  await untilRead(service);
  await reconcileAll(service);
  const entries = await service.db.superuser<{ action: string }>(
    `select action from audit_entries where action like 'events.%' and institution_id = 0 order by audit_key`,
  );
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['events.closed', 'events.archived'],
  );
});
