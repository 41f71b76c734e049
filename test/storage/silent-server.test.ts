import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Problem } from '../../src/shared/problem.ts';
import { CommitWatch, Database, sql } from '../../src/storage/index.ts';
import { aMember, anInstitution } from '../support/builders.ts';
import { cuttingProxy } from '../support/cutting-proxy.ts';
import { testDatabase } from '../support/database.ts';

/* A stalled or unreachable server sends neither a response nor a close. */

const codeOf = (error: unknown) => (error instanceof Problem ? error.code : String(error));

test('gives up on a statement that a silent server does not answer, and uses a new connection next', {
  timeout: 120_000,
}, async () => {
  await using db = await testDatabase();
  await using proxy = await cuttingProxy(db.connection.host);
  const { institutionId } = await anInstitution(db.database);
  const database = new Database({
    connection: { ...db.connection, host: proxy.host },
    maxConnections: 2,
    silenceMillis: 2_000,
  });
  const one = sql('test_one', 'select 1 as one');
  const works = {
    read: () => database.read(institutionId, (q) => q.query(one)),
    write: () => database.write(institutionId, (q) => q.query(one)),
    transaction: () => database.transaction(institutionId, (tx) => tx.query(one)),
  };
  try {
    for (const [name, work] of Object.entries(works)) {
      await work();
      proxy.freeze();
      assert.equal(await work().then(() => 'answered', codeOf), 'database_unavailable', name);
      await work();
    }
  } finally {
    await database.close();
  }
});

test('reports an unknown outcome for a commit that a silent server does not answer', {
  timeout: 120_000,
}, async () => {
  await using db = await testDatabase();
  await using proxy = await cuttingProxy(db.connection.host);
  const institution = await anInstitution(db.database);
  const { user } = await aMember(db.database, institution);
  const database = new Database({
    connection: { ...db.connection, host: proxy.host },
    maxConnections: 1,
    silenceMillis: 2_000,
  });
  try {
    const change = database.transaction(institution.institutionId, async (tx) => {
      await tx.query(sql('test_change', 'update users set failed_logins = 4 where user_key = $1'), [
        user.userKey,
      ]);
      proxy.freeze();
    });
    assert.equal(await change.then(() => 'answered', codeOf), 'outcome_unknown');
  } finally {
    await database.close();
  }
});

test('gives no caller a connection that idled since before another one fell silent', {
  timeout: 120_000,
}, async () => {
  await using db = await testDatabase();
  await using proxy = await cuttingProxy(db.connection.host);
  const { institutionId } = await anInstitution(db.database);
  const database = new Database({
    connection: { ...db.connection, host: proxy.host },
    maxConnections: 4,
    silenceMillis: 1_000,
  });
  const one = sql('test_one', 'select 1 as one');
  const ask = () => database.directory((q) => q.query(one));
  try {
    await database.read(institutionId, (q) => q.query(one));
    await Promise.all([ask(), ask(), ask()]);
    proxy.freeze();
    assert.equal(await ask().then(() => 'answered', codeOf), 'database_unavailable');
    await Promise.all([ask(), ask(), database.read(institutionId, (q) => q.query(one))]);
  } finally {
    await database.close();
  }
});

test('closes in bounded time while a caller waits for a silent server', {
  timeout: 60_000,
}, async () => {
  await using db = await testDatabase();
  await using proxy = await cuttingProxy(db.connection.host);
  const database = new Database({ connection: { ...db.connection, host: proxy.host }, maxConnections: 2 });
  const one = sql('test_one', 'select 1 as one');
  await database.directory((q) => q.query(one));
  proxy.freezeForGood();
  const asked = database.directory((q) => q.query(one)).then(() => 'answered', codeOf);
  await database.close();
  assert.equal(await asked, 'database_unavailable');
});

test('notices a commit that waits, until another one succeeds', {
  timeout: 60_000,
}, async () => {
  await using db = await testDatabase();
  await using proxy = await cuttingProxy(db.connection.host);
  const { institutionId } = await anInstitution(db.database);
  const commits = new CommitWatch();
  const changes: boolean[] = [];
  const noticed = new Promise<void>((resolve) => {
    commits.onChange = (isDelayed) => {
      changes.push(isDelayed);
      if (isDelayed) resolve();
    };
  });
  const connection = { ...db.connection, host: proxy.host };
  const database = new Database({ connection, maxConnections: 1, silenceMillis: 2_000, commits });
  const one = sql('test_one', 'select 1 as one');
  const commit = (before: () => void) =>
    database.transaction(institutionId, async (tx) => {
      await tx.query(one);
      before();
    });
  try {
    await commit(() => {});
    assert.equal(commits.isDelayed, false);
    const waiting = commit(() => proxy.freeze()).then(() => 'committed', codeOf);
    await noticed;
    assert.equal(await waiting, 'outcome_unknown');
    assert.equal(commits.isDelayed, true);
    await commit(() => {});
    assert.equal(commits.isDelayed, false);
    assert.deepEqual(changes, [true, false]);
  } finally {
    await database.close();
  }
});
