import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anInstitution } from '../support/builders.ts';
import { testDatabase } from '../support/database.ts';
import { asSuperuser } from '../support/postgres.ts';

// Each process asks these questions twice a second or more, about all institutions at once.
const questions = [
  `select * from alerts_to_derive(now(), '00000000-0000-0000-0000-000000000001')`,
  'select * from webhooks_to_send(now(), 10)',
];
const events = 20_000;
const mostRows = 40;

test('the questions for work read none of the events before the positions, however many there are', async (t) => {
  const db = await testDatabase();
  t.after(() => db.close());
  const { institutionId } = await anInstitution(db.database);
  const position = `select institution_id, epoch, xid, event_key, 1 as number from outbox
                    where institution_id = ${institutionId} order by epoch desc, xid desc, event_key desc limit 1`;
  await asSuperuser(db.connection, async (client) => {
    await client.query('set session_replication_role = replica');
    await client.query(
      `insert into outbox (institution_id, kind, subject_key, recorded_at)
       select ${institutionId}, 'member.registered', 1, now() from generate_series(1, ${events})`,
    );
    await client.query(
      `insert into alert_positions (institution_id, epoch, xid, event_key, number) ${position}`,
    );
    await client.query(
      `insert into webhook_endpoints (institution_id, epoch, xid, event_key, number, endpoint_id, client_id, url, payload, ordering, status,
                                      created_at)
       select l.*, gen_random_uuid(), 'reader', 'https://receiver.example/', 'THIN', 'STRICT', 'ACTIVE', now() from (${position}) l`,
    );
    await client.query('vacuum analyze');
    for (const question of questions) {
      await client.query('begin');
      const { rows: work } = await client.query(question);
      const { rows } = await client.query<{ name: string; read: number }>(
        `select relname as name, (seq_tup_read + idx_tup_fetch)::integer as read
         from pg_stat_xact_user_tables where relname like 'outbox%' order by 1`,
      );
      await client.query('rollback');
      assert.deepEqual(work, [], question);
      assert.ok(rows.length > 0);
      for (const { name, read } of rows) assert.ok(read <= mostRows, `${question}: ${read} rows of ${name}`);
    }
  });
});
