import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Problem } from '../../src/shared/problem.ts';
import {
  counted,
  Database,
  type InstitutionId,
  type Queryable,
  type Statement,
  sql,
  type Transaction,
  type Write,
} from '../../src/storage/index.ts';
import { anInstitution } from '../support/builders.ts';
import { cuttingProxy } from '../support/cutting-proxy.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { eventually } from '../support/desk.ts';
import { serviceRole } from '../support/postgres.ts';

/* Writes of a transaction that are sent with its COMMIT. */

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
  // One connection, so that its next user notices any damage.
  database = new Database({ connection: db.connection, maxConnections: 1 });
});
after(async () => {
  await database.close();
  await db.close();
});

const insertNote = sql('test_insert_note', 'insert into notes values ($1)');
const write = (q: Queryable, note: string) => q.query(insertNote, [note]);
const note = (text: string): Write => ({ statement: insertNote, values: [text] });
const plain = (statement: Statement): Write => ({ statement, values: [] });
const process = sql('test_process', 'select pg_backend_pid() as pid');
const raise = (code: string) =>
  sql(`test_raise_${code}`, `do $$ begin raise exception 'no' using errcode = '${code}'; end $$`);

const codeOf = (error: unknown) => (error as { readonly code?: string }).code ?? String(error);
const outcomeOf = (work: (tx: Transaction) => Promise<unknown>, through = database) =>
  through.transaction(institutionId, work).then(() => 'done', codeOf);
const noted = async (note: string) =>
  (await db.superuser('select from notes where note = $1', [note])).length > 0;

test('a pipelined commit does not wait for the responses before it', { timeout: 120_000 }, async () => {
  await using proxy = await cuttingProxy(db.connection.host);
  const behindProxy = new Database({
    connection: { ...db.connection, host: proxy.host },
    maxConnections: 1,
    silenceMillis: 2_000,
  });
  try {
    const answer = outcomeOf(async (tx) => {
      await tx.query(process);
      const { toServer } = proxy.seen;
      const written = tx.commitWith([note('unanswered')]);
      // Lets no response through once the commit has been sent.
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

test('a pipelined commit returns the outcome, and the connection continues', async () => {
  const result = await database.transaction(institutionId, async (tx) => {
    await tx.commitWith([note('a'), note('b')]);
    return 'result';
  });
  assert.equal(result, 'result');
  assert.deepEqual([await noted('a'), await noted('b')], [true, true]);
  assert.equal(await outcomeOf((tx) => tx.commitWith([])), 'done');
});

test('a failure beside a pipelined commit rolls back everything and is reported, and the connection continues', async () => {
  const pid = () => database.transaction(institutionId, (tx) => tx.query(process)).then(({ rows }) => rows);
  const before = await pid();
  const failing = counted('test_counted', 'notes', '2', `insert into notes values ('miscounted')`);
  const failures: readonly (readonly [code: string, writes: readonly Write[]])[] = [
    ['23505', [note('c'), note('a'), note('d')]],
    ['SD016', [note('c'), plain(failing)]],
    ['SD999', [note('c'), note('complained of at the end')]],
    ['overloaded', [note('c'), plain(raise('55P03'))]],
    ['overloaded', [note('c'), plain(raise('40P01'))]],
  ];
  for (const [code, writes] of failures) {
    assert.equal(await outcomeOf((tx) => tx.commitWith(writes)), code);
    assert.equal(await noted('c'), false, code);
    assert.deepEqual(await pid(), before, code);
  }
});

test('an unobserved failure before a pipelined commit rolls back everything and is reported', async () => {
  const answer = outcomeOf(async (tx) => {
    await tx.query(raise('SD998')).catch(() => {});
    await tx.commitWith([note('e')]);
  });
  assert.equal(await answer, 'SD998');
  const isOutputClosed = outcomeOf(async (tx) => {
    await tx.query(raise('SD998')).catch(() => {});
    await tx.commitWith([]);
  });
  assert.equal(await isOutputClosed, 'SD998');
  assert.equal(await noted('e'), false);
});

test('a pipelined commit with a write that cannot be serialized commits nothing', async () => {
  const unwritable = {
    statement: insertNote,
    values: [{ toPostgres: () => assert.fail('not to be written') }],
  };
  const answer = outcomeOf((tx) => tx.commitWith([note('f'), unwritable]));
  assert.equal(await answer, 'ERR_ASSERTION');
  assert.equal(await noted('f'), false);
});

test('a pipelined commit to a read-only database wrote nothing, and one to a lost database may have written', async () => {
  const diskFull = '53100';
  assert.equal(await outcomeOf((tx) => tx.commitWith([plain(raise(diskFull))])), 'database_unavailable');

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
  assert.equal(await ended(outcomeOf((tx) => tx.query(sleep))), 'database_unavailable');
  assert.equal(await ended(outcomeOf((tx) => tx.commitWith([plain(sleep)]))), 'outcome_unknown');
});

test('a statement behind a pipelined commit is refused with an unknown outcome, because it was committed', async () => {
  const answer = outcomeOf(async (tx) => {
    await tx.commitWith([note('g')]);
    await write(tx, 'h');
  });
  assert.equal(await answer, 'outcome_unknown');
  assert.deepEqual([await noted('g'), await noted('h')], [true, false]);
  const twice = database.transaction(institutionId, async (tx) => {
    await tx.commitWith([note('i')]);
    await tx.commitWith([note('j')]);
  });
  await assert.rejects(twice, (error) => error instanceof Problem && error.code === 'outcome_unknown');
});
