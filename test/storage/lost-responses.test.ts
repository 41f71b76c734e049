import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Problem } from '../../src/shared/problem.ts';
import { Database, type InstitutionId, sql, type Transaction } from '../../src/storage/index.ts';
import { anInstitution } from '../support/builders.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { serviceRole } from '../support/postgres.ts';
import { serverError } from '../support/server-messages.ts';

/* Work whose response was lost is never reported as undone, however the connection was lost. */

let db: TestDatabase;
let institutionId: InstitutionId;
before(async () => {
  db = await testDatabase();
  ({ institutionId } = await anInstitution(db.database));
  await db.superuser('create table notes (note text primary key)');
  await db.superuser(`grant select, insert on notes to ${serviceRole}`);
});
after(() => db.close());

const insertNote = sql('test_insert_note', 'insert into notes values ($1)');
const noted = async (note: string) =>
  (await db.superuser('select from notes where note = $1', [note])).length > 0;

/** Forwards both directions until the server has done `what`; then sends an error instead, and closes. */
async function failingAt(what: string, instead: Buffer) {
  const host = await mkdtemp(path.join(os.tmpdir(), 'failing-'));
  const server = net.createServer((client) => {
    const upstream = net.connect(path.join(db.connection.host, '.s.PGSQL.5432'));
    for (const socket of [client, upstream])
      socket.on('error', () => {}).on('close', () => upstream.destroy());
    client.on('data', (chunk) => upstream.write(chunk));
    upstream.on('data', (chunk) => {
      if (chunk.includes(`${what}\0`)) client.end(instead);
      else client.write(chunk);
    });
  });
  await new Promise<void>((resolve) => server.listen(path.join(host, '.s.PGSQL.5432'), resolve));
  const database = new Database({ connection: { ...db.connection, host }, maxConnections: 1 });
  return {
    database,
    [Symbol.asyncDispose]: async () => {
      await database.close();
      server.close();
      await rm(host, { recursive: true });
    },
  };
}

const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error) => error,
  );

const ends = {
  'an internal error of the server': serverError('XX000'),
  'an error of the statement': serverError('22003'),
  'the end alone': Buffer.alloc(0),
};
for (const [name, instead] of Object.entries(ends)) {
  test(`the outcome is unknown if COMMIT gets only ${name}`, async () => {
    await using failing = await failingAt('COMMIT', instead);
    const insert = (tx: Transaction) => tx.query(insertNote, [name]);
    const error = await errorOf(failing.database.transaction(institutionId, insert));
    assert.ok(error instanceof Problem, String(error));
    assert.equal(error.code, 'outcome_unknown');
    assert.equal(await noted(name), true);
  });
}

test('a single write whose response was lost is unavailable, without a claim that nothing was written', async () => {
  await using failing = await failingAt('INSERT 0 1', Buffer.alloc(0));
  const error = await errorOf(
    failing.database.write(institutionId, (one) => one.query(insertNote, ['written alone'])),
  );
  assert.ok(error instanceof Problem, String(error));
  assert.equal(error.code, 'database_unavailable');
  assert.doesNotMatch(error.detail, /Nothing was written/);
  assert.equal(await noted('written alone'), true);
});

test('refuses statements on a transaction that is over', async () => {
  let kept: Transaction | undefined;
  await db.database.transaction(institutionId, async (tx) => {
    assert.equal(tx.over, false);
    kept = tx;
  });
  assert.equal(kept?.over, true);
  await assert.rejects(async () => kept?.query(insertNote, ['too late']), /is over/);
  assert.equal(await noted('too late'), false);
});
