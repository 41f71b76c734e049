import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  Database,
  type InstitutionId,
  institutionOf,
  sql,
  type Transaction,
} from '../../src/storage/index.ts';
import { anInstitution } from '../support/builders.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { serviceRole } from '../support/postgres.ts';

/* One transaction of several institutions: each part sees its own rows only, and all commit together or none. */

let db: TestDatabase;
let database: Database;
let ids: InstitutionId[];
before(async () => {
  db = await testDatabase();
  ids = [];
  for (let index = 0; index < 3; index++) ids.push((await anInstitution(db.database)).institutionId);
  await db.superuser(`create table notes (institution_id integer not null, note text not null, primary key (institution_id, note));
    select bind_to_institution('notes');
    grant select, insert, update on notes to ${serviceRole}`);
  // One connection, so that its next user notices any damage.
  database = new Database({ connection: db.connection, maxConnections: 1 });
});
after(async () => {
  await database.close();
  await db.close();
});

const insertNote = sql('test_insert_own_note', 'insert into notes values ($1, $2)');
const allNotes = sql('test_all_notes', 'select institution_id, note from notes order by note');
const lockNote = sql('test_lock_note', 'select from notes where institution_id = $1 for update');
const write = (tx: Transaction, note: string) => tx.query(insertNote, [tx.institutionId, note]);
const seen = async (tx: Transaction) =>
  (await tx.query<{ institutionId: number; note: string }>(allNotes)).rows.map(
    ({ institutionId, note }) => `${institutionId} ${note}`,
  );
const together = <T>(work: (tx: Transaction) => Promise<T>, institutions = ids) =>
  database.together(institutions.map((institutionId) => ({ institutionId, work })));
const notesOf = (institutionId: InstitutionId) => database.transaction(institutionId, seen);
const own = (...notes: string[]) => ids.map((id) => notes.map((note) => `${id} ${note}`));

test('each statement of a part sees the rows of its institution only, in whatever turn the parts are', async () => {
  const found = await together(async (tx) => {
    await write(tx, 'first');
    // Parts that take a different number of turns.
    for (let turn = 0; turn < tx.institutionId % 3; turn++) await new Promise(setImmediate);
    await write(tx, 'second');
    const mine = await seen(tx);
    await tx.commitWith([{ statement: insertNote, values: [tx.institutionId, 'third'] }]);
    return mine;
  });
  assert.deepEqual(found, own('first', 'second'));
  for (const [at, id] of ids.entries())
    assert.deepEqual(await notesOf(id), own('first', 'second', 'third')[at]);
});

test('a row of another institution is refused in a part, rolls all parts back, and the error names the institution', async () => {
  const [first, , last] = ids as [InstitutionId, InstitutionId, InstitutionId];
  const error = await together(async (tx) => {
    await write(tx, 'lost');
    const other = tx.institutionId === last ? first : tx.institutionId;
    await tx.commitWith([{ statement: insertNote, values: [other, 'stolen'] }]);
  }).catch((failure) => failure);
  assert.equal(error.code, '42501');
  assert.equal(institutionOf(error), last);
  // The rollback took the setting of the connection back, too.
  for (const [at, id] of ids.entries())
    assert.deepEqual(await notesOf(id), own('first', 'second', 'third')[at]);
});

test('a part that throws rolls all parts back, and no part can send a statement afterwards', async () => {
  const later: Promise<unknown>[] = [];
  await assert.rejects(
    together(async (tx) => {
      await write(tx, 'lost');
      if (tx.institutionId === ids[0]) throw new Error('broken');
      await new Promise(setImmediate);
      later.push(write(tx, 'late'));
      await tx.commitWith([]);
    }),
    { message: 'broken' },
  );
  for (const [at, id] of ids.entries())
    assert.deepEqual(await notesOf(id), own('first', 'second', 'third')[at]);
  for (const statement of await Promise.allSettled(later)) assert.equal(statement.status, 'rejected');
});

test('a lock in one institution is waited for a tenth as long as in a transaction of its own', async () => {
  const [first, , last] = ids as [InstitutionId, InstitutionId, InstitutionId];
  const held = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holder = db.database.transaction(last, async (tx) => {
    await tx.query(lockNote, [last]);
    locked.resolve();
    await held.promise;
  });
  await locked.promise;
  const settings = sql('test_lock_timeout', `select current_setting('lock_timeout') as value`);
  const timeout = async (tx: Transaction) => (await tx.query<{ value: string }>(settings)).rows[0]?.value;
  try {
    const error = await together((tx) => tx.query(lockNote, [tx.institutionId])).catch((failure) => failure);
    assert.equal(error.code, 'overloaded');
    assert.equal(institutionOf(error.cause), last);
  } finally {
    held.resolve();
    await holder;
  }
  assert.deepEqual(await together(timeout), ['50ms', '50ms', '50ms']);
  assert.equal(await database.transaction(first, timeout), '500ms');
});
