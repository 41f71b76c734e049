import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { selectAudit } from '../../src/events/audit/audit-queries.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { asSuperuser } from '../support/postgres.ts';
import { type Filled, fill } from '../support/reading-fill.ts';
import { breaches, measureReads, type Read } from '../support/reading-plans.ts';

let db: TestDatabase;
let filled: Filled;
before(async () => {
  db = await testDatabase();
  filled = await fill(db, 10);
});
after(() => db.close());

test('a search of the audit reads the entries of its period in both orders, and few of others', async () => {
  const { institutionId } = filled.institution;
  const entries = 30_000;
  await asSuperuser(db.connection, async (client) => {
    await client.query('set session_replication_role = replica');
    await client.query(
      `insert into audit_entries (institution_id, recorded_at, action, outcome, transaction_id, times)
       select $1, $2::timestamptz + i * interval '1 second', 'login', 'succeeded', 'filled-' || i, 1
       from generate_series(1, $3::integer) i`,
      [institutionId, filled.start, entries],
    );
    await client.query('set session_replication_role = default');
    await client.query('analyze audit_entries');
  });
  const at = (share: number) => new Date(filled.start.getTime() + Math.floor(entries * share) * 1_000);
  const period = { since: at(0.4), until: at(0.6) };
  const read = (name: string, share?: number): Read[] =>
    [true, false].map((newestFirst) => ({
      ...{ name: `${name}, ${newestFirst ? 'newest' : 'oldest'} first`, deep: null },
      run: (database) =>
        database.read(institutionId, (q) => {
          const after = share === undefined ? undefined : { at: at(share), auditKey: 1n };
          return selectAudit(q, period, { after, newestFirst, window: 50 });
        }),
    }));
  const measured = await measureReads(db, filled, [...read('first'), ...read('deep', 0.5)]);
  assert.deepEqual(breaches(measured), []);
  assert.ok(measured.every(({ returned }) => returned === 50));
});
