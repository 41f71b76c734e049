import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { appendEvents, markEventNumbers } from '../../src/events/index.ts';
import { type FeedEvent, readEvents } from '../../src/feed/index.ts';
import { Database, type InstitutionId, sql } from '../../src/storage/index.ts';
import { anInstitution } from '../support/builders.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

const at = new Date('2026-03-02T12:00:00Z');
let db: TestDatabase;
let institutionId: InstitutionId;

before(async () => {
  db = await testDatabase();
});
after(() => db.close());

async function appendMany(count: number, base = 0): Promise<void> {
  const events = Array.from({ length: count }, (_, index) => ({
    kind: 'member.activated',
    subjectKey: BigInt(base + index),
  }));
  await db.database.transaction(institutionId, (tx) => appendEvents(tx, events, at));
}

const mark = () => db.database.write(institutionId, markEventNumbers);

/** Transactions of other databases of the cluster hold the feed back too, so the tests wait until it shows all events. */
async function untilShown(count: number): Promise<void> {
  for (const deadline = Date.now() + 30_000; (await readAll(200)).length < count; ) {
    if (Date.now() > deadline) throw new Error(`the feed does not show ${count} events`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function readAll(limit: number): Promise<FeedEvent[]> {
  const events: FeedEvent[] = [];
  for (let after: readonly bigint[] | null = null; ; ) {
    const { items, next } = await readEvents(db.database, institutionId, { after, limit });
    if (items.length === 0) return events;
    events.push(...items);
    after = next;
  }
}

test('numbers the events of a feed from 1 without a gap, whatever the size of its pages and before and after marks', async () => {
  ({ institutionId } = await anInstitution(db.database));
  // Transactions of different sizes at the same time, whose keys and commits are in different orders.
  await Promise.all(
    Array.from({ length: 40 }, (_, index) => appendMany(1 + ((index * 13) % 60), index * 1000)),
  );
  await untilShown(
    Array.from({ length: 40 }, (_, index) => 1 + ((index * 13) % 60)).reduce((sum, one) => sum + one),
  );
  const unmarked = await readAll(200);
  assert.deepEqual(
    unmarked.map(({ sequence }) => sequence),
    unmarked.map((_, index) => BigInt(index + 1)),
  );
  assert.equal(await mark(), Math.floor(unmarked.length / 500));
  assert.deepEqual(await readAll(7), unmarked);
  await appendMany(3);
  await untilShown(unmarked.length + 3);
  const more = await readAll(150);
  assert.deepEqual(more.slice(0, unmarked.length), unmarked);
  assert.equal(more.at(-1)?.sequence, BigInt(unmarked.length + 3));
});

test('reads the feed from the event with a number', async () => {
  ({ institutionId } = await anInstitution(db.database));
  await appendMany(1_001);
  await untilShown(1_001);
  const all = await readAll(200);
  for (const marked of [false, true]) {
    if (marked) assert.equal(await mark(), 2);
    for (const from of [1n, 2n, 500n, 501n, 502n, 1_000n, 1_001n]) {
      const { items } = await readEvents(db.database, institutionId, { from, limit: 2 });
      assert.deepEqual(
        items,
        all.slice(Number(from) - 1, Number(from) + 1),
        `from ${from}, marked ${marked}`,
      );
    }
    assert.deepEqual((await readEvents(db.database, institutionId, { from: 1_002n, limit: 2 })).items, []);
    const ahead = readEvents(db.database, institutionId, { from: 1_003n, limit: 2 });
    await assert.rejects(ahead, { code: 'invalid_request' });
  }
});

test('marks each number once if several processes mark at the same time', async () => {
  ({ institutionId } = await anInstitution(db.database));
  await appendMany(2_500);
  await untilShown(2_500);
  const marked = await Promise.all([mark(), mark(), mark()]);
  assert.equal(
    marked.reduce((sum, one) => sum + one, 0),
    5,
  );
  assert.equal(await mark(), 0);
});

test('does not number an event that an earlier running transaction may still precede', async () => {
  ({ institutionId } = await anInstitution(db.database));
  const other = new Database({ connection: db.connection, maxConnections: 1 });
  await other.transaction(institutionId, async (tx) => {
    // Takes a transaction number before the other events.
    await appendEvents(tx, [{ kind: 'member.activated', subjectKey: 1n }], at);
    await appendMany(600);
    assert.equal(await mark(), 0);
  });
  await other.close();
  await untilShown(601);
  assert.equal(await mark(), 1);
});

const wrongMark = sql(
  'test_wrong_mark',
  `insert into event_marks (institution_id, number, epoch, xid, event_key)
   select institution_id, 500, epoch, xid, event_key from outbox where institution_id = $1
   order by epoch, xid, event_key offset 400 limit 1`,
);

test('refuses a mark that is not the number of its event', async () => {
  ({ institutionId } = await anInstitution(db.database));
  await appendMany(600);
  await untilShown(600);
  const written = db.database.write(institutionId, (q) => q.query(wrongMark, [institutionId]));
  await assert.rejects(written, { code: 'SD090' });
});
