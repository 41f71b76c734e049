import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Problem } from '../../src/shared/problem.ts';
import { CommitWatch, Database, sql } from '../../src/storage/index.ts';
import { aMember, anInstitution } from '../support/builders.ts';
import { cuttingProxy } from '../support/cutting-proxy.ts';
import { testDatabase } from '../support/database.ts';

/* A server that stands still, or that a network has swallowed, says nothing: neither an answer nor an end. */

const codeOf = (error: unknown) => (error instanceof Problem ? error.code : String(error));

test('what a silent server does not answer is given up, and the next request has a new connection', {
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

test('a commit that a silent server does not answer may have happened, and says so', {
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

test('after one connection fell silent, no caller gets another one that idled since before', {
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

test('closes in bounded time while a caller waits for a server that is silent', {
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

test('a commit that waits is noticed while it waits, and until another one succeeds', {
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
