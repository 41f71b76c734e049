import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Database, NestedUseError, refuseNestedUse, sql } from '../../src/storage/index.ts';
import { anInstitution } from '../support/builders.ts';
import { testDatabase } from '../support/database.ts';

const one = sql('test_one', 'select 1 as one');

test('refuses a caller that asks a pool for a connection while holding another one of it', async () => {
  refuseNestedUse();
  await using db = await testDatabase();
  const { institutionId } = await anInstitution(db.database);
  const other = new Database({ connection: db.connection, maxConnections: 2 });
  const asks = (database: Database) => [
    () => database.directory((q) => q.query(one)),
    () => database.read(institutionId, (q) => q.query(one)),
    () => database.write(institutionId, (q) => q.query(one)),
    () => database.snapshot(institutionId, (tx) => tx.query(one)),
    () => database.transaction(institutionId, (tx) => tx.query(one)),
  ];
  try {
    for (const hold of ['directory', 'write', 'snapshot', 'transaction'] as const) {
      const holding = (work: () => Promise<unknown>) =>
        hold === 'directory' ? db.database.directory(work) : db.database[hold](institutionId, work);
      for (const ask of asks(db.database)) await assert.rejects(holding(ask), NestedUseError, hold);
      // Another pool, and the same one after the connection was released, may be asked.
      for (const ask of asks(other)) await holding(ask);
      const later = Promise.withResolvers<void>();
      let outliving: Promise<unknown> | undefined;
      await holding(async () => {
        outliving = later.promise.then(() => db.database.directory((q) => q.query(one)));
      });
      later.resolve();
      await outliving;
    }
  } finally {
    await other.close();
  }
});
