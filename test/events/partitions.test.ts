import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { appendEvents, makeEventPartitions } from '../../src/events/index.ts';
import { readEvents } from '../../src/feed/index.ts';
import { type InstitutionId, sqlStateOf } from '../../src/storage/index.ts';
import { applyMigration } from '../../src/storage/migration/migrate.ts';
import { anInstitution } from '../support/builders.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { eventually } from '../support/desk.ts';
import { plainEvents } from '../support/plain-events.ts';
import { asSuperuser, serviceRole, templateRoles } from '../support/postgres.ts';

const at = new Date('2026-03-02T12:00:00Z');
let db: TestDatabase;
let institutionId: InstitutionId;

before(async () => {
  db = await testDatabase();
  ({ institutionId } = await anInstitution(db.database));
});
after(() => db.close());

const append = (subjectKey: bigint, time = at) =>
  db.database.transaction(institutionId, (tx) =>
    appendEvents(tx, [{ kind: 'member.activated', subjectKey }], time),
  );

/** The partition of each event, by its subject. */
async function partitionsOf(database = db): Promise<Record<string, string>> {
  const rows = await database.superuser<{ subject: string; partition: string }>(
    `select subject_key::text as subject, tableoid::regclass::text as partition from outbox order by event_key`,
  );
  return Object.fromEntries(rows.map(({ subject, partition }) => [subject, partition]));
}

const made = () => db.database.directory(makeEventPartitions);
const skipTo = (key: bigint) => db.superuser(`select setval('outbox_event_key_seq', $1)`, [key]);

async function bounds(): Promise<string[]> {
  const rows = await db.superuser<{ bound: string }>(
    `select first_key || '-' || end_key as bound from event_partitions order by first_key`,
  );
  return rows.map(({ bound }) => bound);
}

test('an event goes to the partition of its key, whatever time its process believes', async () => {
  for (const [subject, year] of [
    [1n, '1999'],
    [2n, '2026'],
    [3n, '2199'],
  ] as const) {
    await append(subject, new Date(`${year}-01-01T00:00:00Z`));
  }
  assert.deepEqual(await partitionsOf(), { 1: 'outbox_1', 2: 'outbox_1', 3: 'outbox_1' });
});

test('partitions are made ahead of the last event, once by processes that make them at the same time', async () => {
  await skipTo(10n);
  const counts = await Promise.all([made(), made(), made(), made()]);
  assert.equal(
    counts.reduce((sum, count) => sum + count),
    1,
  );
  assert.deepEqual(await bounds(), ['1-1000001', '1000001-2000001', '2000001-3000001']);
  await skipTo(1_000_001n);
  await append(4n);
  assert.equal((await partitionsOf())[4], 'outbox_1000001');
});

test('a partition has the width of a month at the pace of its predecessors', async () => {
  // A million and two events within ten days.
  await db.superuser(`update event_partitions set made_at = now() - interval '10 days'`);
  await skipTo(1_000_012n);
  assert.equal(await made(), 2);
  const [, , , next = ''] = await bounds();
  const [first, end] = next.split('-').map(Number);
  assert.equal(first, 3_000_001);
  assert.ok(Math.abs(Number(end) - Number(first) - 3_000_000) < 1_000, next);
  // The clock of the database went back: no partition has an age.
  await db.superuser(`update event_partitions set made_at = now() + interval '10 years'`);
  assert.equal(await made(), 0);
});

test('an event beyond every partition is kept and read, and the next partition begins behind it', async () => {
  await skipTo(50_000_000n);
  await append(5n);
  assert.equal((await partitionsOf())[5], 'outbox_default');
  assert.equal(await made(), 2);
  await append(6n);
  assert.equal((await partitionsOf())[6], 'outbox_default');
  await skipTo(51_000_001n);
  await append(7n);
  assert.match((await partitionsOf())[7] ?? '', /^outbox_51000\d{3}$/);
  const read = await eventually(
    () => readEvents(db.database, institutionId, { after: null, limit: 50 }),
    ({ items }) => items.length === 7,
  );
  assert.deepEqual(
    read.items.map(({ sequence }) => sequence),
    [1n, 2n, 3n, 4n, 5n, 6n, 7n],
  );
});

test('each partition has the indexes, constraints, triggers and policies of the table, and no rights of the service', async () => {
  const shapes = await db.superuser<{ name: string; shape: string }>(
    `select c.relname as name, json_build_object(
       'indexes', (select array_agg(regexp_replace(pg_get_indexdef(i.indexrelid), '^.* USING', '') order by 1)
                   from (select indexrelid from pg_index where indrelid = c.oid
                         order by regexp_replace(pg_get_indexdef(indexrelid), '^.* USING', '')) i),
       'checks', (select array_agg(k.conname || pg_get_constraintdef(k.oid) order by k.conname) from pg_constraint k
                  where k.conrelid = c.oid and k.contype = 'c'),
       -- Only those of rows: a trigger of statements stands at the table that the statement names.
       'triggers', (select array_agg(t.tgname order by t.tgname) from pg_trigger t
                    where t.tgrelid = c.oid and not t.tgisinternal and t.tgtype & 1 = 1),
       'policies', (select array_agg(p.polname || pg_get_expr(p.polqual, p.polrelid) || p.polroles::regrole[]::text
                                     order by p.polname) from pg_policy p where p.polrelid = c.oid),
       'bound', c.relrowsecurity and c.relforcerowsecurity,
       'backup', has_table_privilege($1, c.oid, 'select'),
       'commented', obj_description(c.oid, 'pg_class') is not null)::text as shape
     from pg_class c where c.oid in (select 'outbox'::regclass union all
                                     select inhrelid from pg_inherits where inhparent = 'outbox'::regclass)
     order by c.relname`,
    [templateRoles.backup],
  );
  assert.ok(shapes.length > 6, String(shapes.length));
  assert.deepEqual(
    shapes.map(({ name, shape }) => [name, shape]),
    shapes.map(({ name }) => [name, shapes[0]?.shape]),
  );
  const reachable = await db.superuser<{ name: string }>(
    `select c.relname as name from pg_class c join pg_inherits i on i.inhrelid = c.oid and i.inhparent = 'outbox'::regclass
     where has_any_column_privilege($1, c.oid, 'select, insert, update')
        or has_table_privilege($1, c.oid, 'select, insert, update, delete, truncate')`,
    [serviceRole],
  );
  assert.deepEqual(reachable, []);
});

test('a look-up by key reads one partition', async () => {
  const [{ partitions } = { partitions: '' }] = await asSuperuser(db.owner, async (client) => {
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `explain select from outbox where institution_id = 1 and event_key = 1000001`,
    );
    return [{ partitions: rows.map((row) => row['QUERY PLAN']).join('\n') }];
  });
  assert.match(partitions, /on outbox_1000001 /);
  assert.doesNotMatch(partitions, /outbox_1 |default|Append/);
});

test('the migration keeps every event and number, rewrites none, and lets the previous version write all the while', async () => {
  await using old = await testDatabase();
  const institution = await anInstitution(old.database);
  const write = (subjectKey: bigint) =>
    old.database.transaction(institution.institutionId, (tx) =>
      appendEvents(tx, [{ kind: 'member.activated', subjectKey }], at),
    );
  for (const text of plainEvents) await old.superuser(text);
  for (let subject = 1n; subject <= 20n; subject += 1n) await write(subject);
  const files = () =>
    old.superuser<{ file: string }>(
      `select pg_relation_filenode(to_regclass($1)) || ' ' || pg_relation_filenode(to_regclass($2)) as file`,
      ['outbox_1', 'outbox_1_feed'],
    );
  const [before] = await old.superuser<{ file: string }>(
    `select pg_relation_filenode('outbox') || ' ' || pg_relation_filenode('outbox_feed') as file`,
  );
  // Like the service, which repeats what waited too long for a lock.
  const untilWritten = async (subjectKey: bigint): Promise<void> =>
    write(subjectKey).catch((error) => {
      if (sqlStateOf(error) !== '55P03') throw error;
      return untilWritten(subjectKey);
    });
  let written = 20n;
  let isOver = false;
  // The statements were prepared on the plain table.
  const writers = [0, 1, 2].map(async () => {
    try {
      while (!isOver) {
        written += 1n;
        await untilWritten(written);
      }
    } finally {
      isOver = true;
    }
  });
  const all = Promise.allSettled(writers);
  const text = (file: string) => readFile(new URL(`../../${file}`, import.meta.url), 'utf8');
  const client = new pg.Client({ ...old.owner });
  await client.connect();
  try {
    await client.query('set check_function_bodies = off');
    for (const file of ['events/make_event_partitions', 'metrics/event_partition_figures'])
      await client.query(
        (await text(`sql/functions/${file}.sql`)).replaceAll('sharedraft_service', templateRoles.service),
      );
    for (const [version, name] of [
      [58, '0058_event_key_bound.sql'],
      [59, '0059_event_key_bound_validated.sql'],
      [60, '0060_event_partitions.sql'],
      [61, '0061_event_marks_validated.sql'],
    ] as const) {
      await applyMigration(
        client,
        { version, name, text: await text(`migrations/${name}`), checksum: 'none' },
        templateRoles,
      );
      const reached = written + 20n;
      while (written < reached && !isOver) await new Promise((resolve) => setTimeout(resolve, 5));
    }
  } finally {
    isOver = true;
    await client.end();
    await all;
  }
  assert.deepEqual(
    (await all).filter(({ status }) => status === 'rejected'),
    [],
  );
  assert.deepEqual(await files(), [before]);
  const partitions = await partitionsOf(old);
  assert.equal(Object.keys(partitions).length, Number(written));
  assert.deepEqual([...new Set(Object.values(partitions))], ['outbox_1']);
  const [keys] = await old.superuser<{ first: bigint; last: bigint; count: bigint }>(
    'select min(event_key) as first, max(event_key) as last, count(distinct event_key) as count from outbox',
  );
  assert.deepEqual(keys, { first: 1201n, last: 1200n + written, count: written });
  const [bound] = await old.superuser<{ first_key: bigint; end_key: bigint }>(
    'select first_key, end_key from event_partitions order by 1 limit 1',
  );
  assert.equal(bound?.first_key, 1n);
  assert.ok((bound?.end_key ?? 0n) > 1_001_200n);
});
