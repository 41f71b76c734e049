import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { appendEvents, writeEventsOf } from '../../src/events/index.ts';
import { readEvents } from '../../src/feed/index.ts';
import type { Position } from '../../src/shared/page.ts';
import { type InstitutionId, sql, type Transaction } from '../../src/storage/index.ts';
import { selectEndOfFeed } from '../../src/webhooks/index.ts';
import { anInstitution } from '../support/builders.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { eventually } from '../support/desk.ts';

/* A long transaction that is bound to an institution holds up the feed of this institution only, and loses no event of any (ADR 77). */

const at = new Date('2026-03-02T12:00:00Z');
let db: TestDatabase;

before(async () => {
  db = await testDatabase();
});
after(() => db.close());

const freshId = async () => (await anInstitution(db.database)).institutionId;

const put = (subject: number) => (tx: Transaction) =>
  appendEvents(tx, [{ kind: 'account.balance_opened', subjectKey: BigInt(subject), data: { subject } }], at);

const append = (institutionId: InstitutionId, subject: number) =>
  db.database.transaction(institutionId, put(subject));

/** The subjects of the events that the feed shows behind a position. */
async function shown(institutionId: InstitutionId, behind: Position | null = null) {
  const subjects: unknown[] = [];
  for (let place = behind; ; ) {
    const { items, next } = await readEvents(db.database, institutionId, { after: place, limit: 100 });
    if (items.length === 0) return { subjects, next };
    subjects.push(...items.map(({ data }) => (data as { subject: number }).subject));
    place = next;
  }
}

const whenShown = (institutionId: InstitutionId, subjects: readonly number[]) =>
  eventually(
    () => shown(institutionId),
    (answer) => answer.subjects.length >= subjects.length,
  ).then((answer) => assert.deepEqual(answer.subjects, subjects));

/** A transaction of the institution that has written the event, and commits when it is told to. */
async function held(
  institutionId: InstitutionId,
  subject: number,
  bind: (tx: Transaction) => Promise<void> = writeEventsOf,
) {
  const [written, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const done = db.database.transaction(institutionId, async (tx) => {
    await bind(tx);
    await put(subject)(tx);
    written.resolve();
    await end.promise;
  });
  await Promise.race([written.promise, done]);
  return {
    commit: () => {
      end.resolve();
      return done;
    },
  };
}

test('a bound transaction holds up the feed of its institution and no other, and its events come in their order', async () => {
  const [own, other] = [await freshId(), await freshId()];
  await append(own, 1);
  await whenShown(own, [1]);
  const long = await held(own, 2);
  await append(own, 3);
  await append(other, 4);
  await whenShown(other, [4]);
  assert.deepEqual((await shown(own)).subjects, [1]);
  const { next } = await shown(own);
  await long.commit();
  await whenShown(own, [1, 2, 3]);
  assert.deepEqual((await shown(own, next)).subjects, [2, 3]);
});

test('a transaction that is not bound holds up all feeds, beside a bound one too', async () => {
  const [own, other] = [await freshId(), await freshId()];
  const bound = await held(own, 1);
  const unbound = await held(other, 2, async () => {});
  await append(other, 3);
  assert.deepEqual((await shown(other)).subjects, []);
  await unbound.commit();
  await whenShown(other, [2, 3]);
  await bound.commit();
  await whenShown(own, [1]);
});

test('a webhook begins behind the events that the feed shows beside a bound transaction', async () => {
  const [own, other] = [await freshId(), await freshId()];
  const bound = await held(own, 1);
  await append(other, 2);
  await whenShown(other, [2]);
  const { number } = await eventually(
    () => db.database.read(other, selectEndOfFeed),
    (end) => end.number === 1n,
  );
  assert.equal(number, 1n);
  await bound.commit();
});

test('the database refuses an event of another institution from a bound transaction, and the bond of one that has written', async () => {
  const [own, other] = [await freshId(), await freshId()];
  await assert.rejects(
    db.database.transaction(own, async (tx) => {
      await put(1)(tx);
      await writeEventsOf(tx);
    }),
    ({ code }: { code?: string }) => code === 'SD027',
  );
  const [url, insert] = [
    db.url,
    `insert into outbox (institution_id, epoch, kind, subject_key, recorded_at) values ($1, 0, 'member.activated', 1, now())`,
  ];
  const client = new pg.Client(url);
  await client.connect();
  try {
    const enter = (id: number) =>
      client.query(`select set_config('sharedraft.institution', $1, false)`, [String(id)]);
    await client.query('begin');
    await client.query('select write_events_of($1)', [own]);
    await enter(own);
    await client.query(insert, [own]);
    await enter(other);
    await assert.rejects(client.query(insert, [other]), ({ code }: { code?: string }) => code === 'SD028');
    await client.query('rollback');
    // The bond ended with the transaction.
    await enter(other);
    await client.query(insert, [other]);
  } finally {
    await client.end();
  }
});

test('readers of two institutions miss no event and see none twice while bound and other transactions commit in any order', async () => {
  const institutions = [await freshId(), await freshId()];
  const expected = new Map(institutions.map((id) => [id, new Set<number>()]));
  let isOver = false;
  const pause = sql('test_pause', 'select pg_sleep($1)');
  const writers = Array.from({ length: 6 }, async (_, writer) => {
    const institutionId = institutions[writer % 2] as InstitutionId;
    for (let turn = 0; turn < 25; turn += 1) {
      const subject = writer * 1000 + turn;
      const work = db.database.transaction(institutionId, async (tx) => {
        if (writer < 2) await writeEventsOf(tx);
        await put(subject)(tx);
        await tx.query(pause, [writer < 2 ? 0.05 : ((writer * 7 + turn * 3) % 5) / 1000]);
        if (turn % 6 === 5) throw new Error('rolled back');
      });
      await work.then(
        () => expected.get(institutionId)?.add(subject),
        (error: Error) => assert.match(error.message, /rolled back/),
      );
    }
  });
  const readers = institutions.map(async (institutionId) => {
    const seen: unknown[] = [];
    for (let place: Position | null = null; ; ) {
      const wasOver = isOver;
      const { subjects, next } = await shown(institutionId, place);
      seen.push(...subjects);
      place = next;
      if (wasOver && seen.length >= (expected.get(institutionId)?.size ?? 0)) return seen;
    }
  });
  await Promise.all(writers);
  isOver = true;
  for (const [index, seen] of (await Promise.all(readers)).entries()) {
    const all = [...(expected.get(institutions[index] as InstitutionId) ?? [])];
    assert.deepEqual([...seen].sort(), all.sort());
  }
});
