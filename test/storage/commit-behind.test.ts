import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Problem } from '../../src/problem.ts';
import {
  counted,
  Database,
  type InstitutionId,
  type Queryable,
  sql,
  type Transaction,
} from '../../src/storage/index.ts';
import { anInstitution } from '../support/builders.ts';
import { cuttingProxy } from '../support/cutting-proxy.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { eventually } from '../support/desk.ts';
import { serviceRole } from '../support/postgres.ts';

/* COMMIT that goes out with the last statements of a transaction, before their answers have come. */

let db: TestDatabase;
let database: Database;
let institutionId: InstitutionId;
before(async () => {
  db = await testDatabase();
  ({ institutionId } = await anInstitution(db.database));
  await db.superuser(`create table notes (note text primary key);
    create function complain() returns trigger language plpgsql as $$
    begin raise exception 'no' using errcode = 'SD999'; end $$;
    create constraint trigger complaining after insert on notes deferrable initially deferred
      for each row when (new.note = 'complained of at the end') execute function complain();
    grant select, insert on notes to ${serviceRole}`);
  // One connection: what happens to it is seen by whoever uses it next.
  database = new Database({ connection: db.connection, maxConnections: 1 });
});
after(async () => {
  await database.close();
  await db.close();
});

const insertNote = sql('test_insert_note', 'insert into notes values ($1)');
const write = (q: Queryable, note: string) => q.query(insertNote, [note]);
const process = sql('test_process', 'select pg_backend_pid() as pid');
const raise = (code: string) =>
  sql(`test_raise_${code}`, `do $$ begin raise exception 'no' using errcode = '${code}'; end $$`);

const codeOf = (error: unknown) => (error as { readonly code?: string }).code ?? String(error);
const told = (work: (tx: Transaction) => Promise<unknown>, through = database) =>
  through.transaction(institutionId, work).then(() => 'done', codeOf);
const noted = async (note: string) =>
  (await db.superuser('select from notes where note = $1', [note])).length > 0;

test('it does not wait for the answers of what goes before it', { timeout: 120_000 }, async () => {
  await using proxy = await cuttingProxy(db.connection.host);
  const behindProxy = new Database({
    connection: { ...db.connection, host: proxy.host },
    maxConnections: 1,
    silenceMillis: 2_000,
  });
  try {
    const answer = told(async (tx) => {
      await tx.query(process);
      const { toServer } = proxy.seen;
      const written = tx.commitBehind(write(tx, 'unanswered'));
      // As soon as it has gone out nothing comes back any more.
      while (proxy.seen.toServer === toServer) await new Promise(setImmediate);
      proxy.freeze();
      return written;
    }, behindProxy);
    await eventually(
      () => noted('unanswered'),
      (found) => found,
    );
    assert.ok(['done', 'outcome_unknown'].includes(await answer), await answer);
  } finally {
    await behindProxy.close();
  }
});

test('its answer is the outcome, and the connection goes on', async () => {
  const result = await database.transaction(institutionId, async (tx) => {
    await tx.commitBehind(Promise.all([write(tx, 'a'), write(tx, 'b')]));
    return 'result';
  });
  assert.equal(result, 'result');
  assert.deepEqual([await noted('a'), await noted('b')], [true, true]);
  assert.equal(await told((tx) => tx.commitBehind(Promise.resolve())), 'done');
});

test('what fails beside it undoes all, is told as what it was, and the connection goes on', async () => {
  const pid = () => database.transaction(institutionId, (tx) => tx.query(process)).then(({ rows }) => rows);
  const before = await pid();
  const failing = counted('test_counted', 'notes', '2', `insert into notes values ('miscounted')`);
  const failures: readonly (readonly [code: string, work: (tx: Transaction) => Promise<unknown>])[] = [
    ['23505', (tx) => Promise.all([write(tx, 'c'), write(tx, 'a'), write(tx, 'd')])],
    ['SD016', (tx) => Promise.all([write(tx, 'c'), tx.query(failing)])],
    ['SD999', (tx) => Promise.all([write(tx, 'c'), write(tx, 'complained of at the end')])],
    ['overloaded', (tx) => Promise.all([write(tx, 'c'), tx.query(raise('55P03'))])],
    ['overloaded', (tx) => Promise.all([write(tx, 'c'), tx.query(raise('40P01'))])],
  ];
  for (const [code, work] of failures) {
    assert.equal(await told((tx) => tx.commitBehind(work(tx))), code);
    assert.equal(await noted('c'), false, code);
    assert.deepEqual(await pid(), before, code);
  }
});

test('a failure before it, though nobody listened to it, undoes all and is what is told', async () => {
  const answer = told(async (tx) => {
    await tx.query(raise('SD998')).catch(() => {});
    await tx.commitBehind(write(tx, 'e'));
  });
  assert.equal(await answer, 'SD998');
  const unheard = told(async (tx) => {
    await tx.query(raise('SD998')).catch(() => {});
    await tx.commitBehind(Promise.resolve());
  });
  assert.equal(await unheard, 'SD998');
  assert.equal(await noted('e'), false);
});

test('who fails while still asking commits nothing', async () => {
  const asking = async (tx: Transaction) => {
    const written = write(tx, 'f');
    await null;
    if (tx.institutionId === institutionId) throw new Error('of the service itself');
    await written;
  };
  const answer = told((tx) => tx.commitBehind(asking(tx)));
  assert.equal(await answer, 'Error: of the service itself');
  assert.equal(await noted('f'), false);
});

test('a database that cannot write has written nothing; one that went away may have', async () => {
  const diskFull = '53100';
  assert.equal(await told((tx) => tx.commitBehind(tx.query(raise(diskFull)))), 'database_unavailable');

  const sleep = sql('test_sleep', 'select pg_sleep(60)');
  const ended = async (answer: Promise<string>) => {
    await eventually(
      () =>
        db.superuser<{ ended: boolean }>(`select pg_terminate_backend(pid) as ended from pg_stat_activity
          where datname = current_database() and state = 'active' and query = '${sleep.text}'`),
      (rows) => rows.length > 0,
    );
    return answer;
  };
  assert.equal(await ended(told((tx) => tx.query(sleep))), 'database_unavailable');
  assert.equal(await ended(told((tx) => tx.commitBehind(tx.query(sleep)))), 'outcome_unknown');
});

test('nothing can be asked behind it; who tries is told that the outcome is unknown, for it was committed', async () => {
  const answer = told(async (tx) => {
    await tx.commitBehind(write(tx, 'g'));
    await write(tx, 'h');
  });
  assert.equal(await answer, 'outcome_unknown');
  assert.deepEqual([await noted('g'), await noted('h')], [true, false]);
  const twice = database.transaction(institutionId, async (tx) => {
    await tx.commitBehind(write(tx, 'i'));
    await tx.commitBehind(write(tx, 'j'));
  });
  await assert.rejects(twice, (error) => error instanceof Problem && error.code === 'outcome_unknown');
});
