import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { BatchLoader, type BatchRead } from './batch-loader.ts';
import type { InstitutionId, Queryable } from './statement.ts';

const [ours, theirs] = [1, 2] as InstitutionId[] as [InstitutionId, InstitutionId];

/** A table of one column, and the statements sent for it: institution and keys of each. */
function table(rows: Map<string, string>) {
  const sent: { institutionId: InstitutionId; keys: readonly string[] }[] = [];
  const gate = { open: Promise.resolve() };
  const joined: BatchRead<string, string> = {
    nameOf: (key) => key,
    run: async ({ institutionId }, keys) => {
      sent.push({ institutionId, keys });
      const found = keys.map((key) => rows.get(key));
      await gate.open;
      if (keys.includes('poison')) {
        throw Object.assign(new pg.DatabaseError('invalid byte sequence', 0, 'error'), { code: '22021' });
      }
      return found;
    },
  };
  const reads = new BatchLoader((institutionId, work) => work({ institutionId } as Queryable));
  const ask = (key: string, institutionId = ours) => reads.load(institutionId, joined, key);
  return { ask, sent, gate };
}

test('joins reads of one turn into one statement, and gives each its own rows', async () => {
  const { ask, sent } = table(
    new Map([
      ['a', 'A'],
      ['b', 'B'],
    ]),
  );
  assert.deepEqual(await Promise.all([ask('b'), ask('a'), ask('nobody'), ask('a')]), [
    'B',
    'A',
    undefined,
    'A',
  ]);
  assert.deepEqual(sent, [{ institutionId: ours, keys: ['b', 'a', 'nobody'] }]);
});

test('does not join reads of two institutions into one statement', async () => {
  const { ask, sent } = table(new Map([['a', 'A']]));
  await Promise.all([ask('a', ours), ask('a', theirs), ask('b', ours)]);
  assert.deepEqual(sent, [
    { institutionId: ours, keys: ['a', 'b'] },
    { institutionId: theirs, keys: ['a'] },
  ]);
});

test('answers a read that starts while statements are under way by a later statement, with current data', async () => {
  const rows = new Map([['a', 'before']]);
  const { ask, sent, gate } = table(rows);
  const opened = Promise.withResolvers<void>();
  gate.open = opened.promise;
  const early: Promise<string | undefined>[] = [];
  // As many as may be under way at once, and one that must wait.
  while (sent.length < 2) {
    early.push(ask('a'));
    await new Promise(setImmediate);
  }
  rows.set('a', 'after');
  const late = ask('a');
  await new Promise(setImmediate);
  assert.equal(sent.length, 2);
  opened.resolve();
  assert.deepEqual(new Set(await Promise.all(early)), new Set(['before']));
  assert.equal(await late, 'after');
});

test('fails only the key that the statement fails on', async () => {
  const { ask } = table(new Map([['a', 'A']]));
  const [first, poison, last] = await Promise.allSettled([ask('a'), ask('poison'), ask('a')]);
  assert.deepEqual(
    [first, last].map((one) => one?.status === 'fulfilled' && one.value),
    ['A', 'A'],
  );
  assert.equal(poison?.status, 'rejected');
});

test('fails all waiting callers once when the database is lost', async () => {
  const { ask, sent, gate } = table(new Map());
  gate.open = Promise.reject(Object.assign(new Error('lost'), { code: 'ECONNRESET' }));
  gate.open.catch(() => {});
  const outcomes = await Promise.allSettled([ask('a'), ask('b')]);
  assert.deepEqual(
    outcomes.map((outcome) => outcome.status),
    ['rejected', 'rejected'],
  );
  assert.equal(sent.length, 1);
});
