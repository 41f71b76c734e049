import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  Database,
  type InstitutionId,
  type Queryable,
  sql,
  type Transaction,
} from '../../src/storage/index.ts';
import { anInstitution } from '../support/builders.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { serviceRole } from '../support/postgres.ts';

/* Statements of a transaction that start in one turn are sent together. */

let db: TestDatabase;
let database: Database;
let institutionId: InstitutionId;
before(async () => {
  db = await testDatabase();
  ({ institutionId } = await anInstitution(db.database));
  // One connection, so that its next user notices any damage.
  database = new Database({ connection: db.connection, maxConnections: 1 });
});
after(async () => {
  await database.close();
  await db.close();
});

const numbers = sql('test_numbers', 'select * from unnest($1::bigint[], $2::text[]) as n (number, name)');
const nothing = sql('test_nothing', 'select from accounts where institution_id = $1');
const divide = sql('test_divide', 'select 100 / $1::integer as quotient');
const behind = sql('test_behind', 'select $1::date as day');

const codeOf = (error: { readonly code?: string }) => error.code;
const quotient = (db: Queryable, by: number) => db.query<{ quotient: number }>(divide, [by]);

test('each statement of a group gets its own response, the first time and again', async () => {
  for (let time = 1; time <= 2; time++) {
    const [some, none, empty, other] = await database.transaction(institutionId, (tx) =>
      Promise.all([
        tx.query(numbers, [
          [1n, null, 9_007_199_254_740_993n],
          ['a', 'b "quoted", {braced}', null],
        ]),
        tx.query(nothing, [institutionId]),
        tx.query(numbers, [[], []]),
        tx.query(behind, ['2026-11-21']),
      ]),
    );
    assert.deepEqual(some, {
      rows: [
        { number: 1n, name: 'a' },
        { number: null, name: 'b "quoted", {braced}' },
        { number: 9_007_199_254_740_993n, name: null },
      ],
      rowCount: 3,
      command: 'SELECT',
    });
    assert.deepEqual([none.rows, none.rowCount], [[], 0]);
    assert.deepEqual([empty.rows, empty.rowCount], [[], 0]);
    assert.deepEqual(other.rows, [{ day: '2026-11-21' }]);
  }
});

test('a failed statement fails those behind it with the same reason, and the connection continues', async () => {
  const onlyHere = sql('test_only_behind_a_failure', 'select $1::bigint as number');
  const work = (tx: Transaction, by: number) =>
    Promise.allSettled([quotient(tx, 5), quotient(tx, by), tx.query(onlyHere, [7n])]);
  const reasons: unknown[] = [];
  const failing = database.transaction(institutionId, async (tx) => {
    for (const answer of await work(tx, 0)) {
      if (answer.status === 'rejected') reasons.push(codeOf(answer.reason));
    }
    throw new Error('rolled back');
  });
  await assert.rejects(failing, /rolled back/);
  const divisionByZero = '22012';
  assert.ok(reasons.length >= 2, 'the failed one and the one behind it');
  assert.deepEqual(new Set(reasons), new Set([divisionByZero]));
  const answers = await database.transaction(institutionId, (tx) => work(tx, 4));
  assert.deepEqual(
    answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.rows : answer.reason)),
    [[{ quotient: 20 }], [{ quotient: 25 }], [{ number: 7n }]],
  );
});

test('a statement that cannot be serialized fails its transaction, and nothing of it is sent', async () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  await assert.rejects(
    database.transaction(institutionId, (tx) => tx.query(behind, [circle])),
    TypeError,
  );
  const { rows } = await database.transaction(institutionId, (tx) => tx.query(behind, ['2026-11-21']));
  assert.deepEqual(rows, [{ day: '2026-11-21' }]);
});

test('reports two statements of one name as a defect, and runs neither for the other', async () => {
  const other = sql('test_divide', 'select 1 as one');
  await assert.rejects(
    database.transaction(institutionId, (tx) => tx.query(other)),
    /test_divide/,
  );
});

test('a statement whose rows changed with the schema fails once, and then succeeds', async () => {
  await db.superuser(`create table changing (one integer); grant select on changing to ${serviceRole}`);
  const all = sql('test_changing', 'select * from changing');
  const columns = () =>
    database.transaction(institutionId, async (tx) => {
      await tx.query(sql('test_one', 'select 1'));
      return (await tx.query(all)).rowCount;
    });
  assert.equal(await columns(), 0);
  await db.superuser('alter table changing add column two integer');
  await assert.rejects(columns, /cached plan must not change result type/);
  assert.equal(await columns(), 0);
});

test('questions asked at once are one transaction, and all fail with one of them', async () => {
  const transaction = sql('test_transaction', 'select pg_current_xact_id()::text as xid');
  const ask = (q: Pick<Queryable, 'query'>) => q.query<{ readonly xid: string }>(transaction);
  const [one, other] = await database.directoryAtOnce((q) => Promise.all([ask(q), ask(q)]));
  assert.equal(one.rows[0]?.xid, other.rows[0]?.xid);
  const [first, second] = await database.directory((q) => Promise.all([ask(q), ask(q)]));
  assert.notEqual(first.rows[0]?.xid, second.rows[0]?.xid);
  const outcomes = await database.directoryAtOnce((q) =>
    Promise.allSettled([ask(q), q.query(divide, [0]), ask(q)]),
  );
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  );
  const again = await database.directoryAtOnce((q) => Promise.all([ask(q)]));
  assert.equal(again[0].rows.length, 1);
});

// The last test of this file, because its reader keeps the connection.
test('a failed statement outside a transaction fails no other', async () => {
  const answers = await database.read(institutionId, (read) =>
    Promise.allSettled([quotient(read, 5), quotient(read, 0), quotient(read, 4)]),
  );
  assert.deepEqual(
    answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.rows : codeOf(answer.reason))),
    [[{ quotient: 20 }], '22012', [{ quotient: 25 }]],
  );
});
