import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { bareTables, byHand } from '../../bench/by-hand/index.ts';
import { fill } from '../../bench/fill.ts';
import { type Finding, reconcile } from '../../src/reconciliation/index.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

/* The bench fills tables by name and runs rarely, so this runs its statements on a small dataset. */

const filling = { members: 20, historyPerAccount: 2 };
const accounts = filling.members * 10;
let scratch: string;
before(async () => {
  scratch = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-dataset-'));
});
after(() => rm(scratch, { recursive: true, force: true }));

async function findings(db: TestDatabase): Promise<Finding[]> {
  const found: Finding[] = [];
  const [row] = await db.superuser<{ institution_id: number }>('select institution_id from institutions');
  const institutionId = row?.institution_id as Parameters<typeof reconcile>[1];
  await reconcile(db.database, institutionId, { onFinding: (finding) => found.push(finding) });
  return found;
}

test('reconciliation finds nothing in a bench database filled by COPY, before and after handwritten transfers', async () => {
  await using db = await testDatabase();
  const people = await fill(db.owner, filling);
  assert.equal(people.tokens.length, filling.members);
  assert.equal(people.accounts, accounts);
  assert.deepEqual(await findings(db), []);

  const job = { connection: db.owner, clients: 2, seconds: 1, accounts, hot: false };
  assert.ok((await byHand('equal-work', job, scratch)).perSecond > 0);
  assert.deepEqual(await findings(db), []);
});

test('the bare handwritten transaction of the bench runs on its tables and keeps their sum', async () => {
  await using db = await testDatabase();
  await db.superuser('drop schema public cascade');
  await db.superuser('create schema public');
  for (const statement of await bareTables(accounts)) await db.superuser(statement);
  const job = { connection: db.owner, clients: 2, seconds: 1, accounts, hot: true };
  assert.ok((await byHand('bare', job, scratch)).perSecond > 0);
  const [row] = await db.superuser<{ sum: bigint; entries: boolean }>(
    `select (select sum(balance - 1000000000) from accounts)::bigint as sum,
            (select count(*) from entries) = 2 * (select count(*) from transfers) as entries`,
  );
  assert.deepEqual(row, { sum: 0n, entries: true });
});
