import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { makeEventPartitions } from '../../src/events/index.ts';
import { KeptFindings, reconcile, recordRun } from '../../src/reconciliation/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { eventually } from './desk.ts';
import { asSuperuser } from './postgres.ts';
import { testSecretKey } from './secret-key.ts';
import type { TestService } from './service.ts';

/* Everything that a partition of events needs before it may leave for the archive. */

/** A new owner of the database's objects, who is bound by row-level security, as in production. */
export async function ownerOf({ db }: TestService) {
  const user = `archive_owner_${randomUUID().slice(0, 8)}`;
  await db.superuser(`create role ${user} login;
    do $$
    declare
      each record;
    begin
      execute format('grant create, connect on database %I to ${user}; alter schema public owner to ${user}', current_database());
      for each in select c.oid::regclass as name, c.relkind from pg_class c
                  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') loop
        execute format('alter table %s owner to ${user}', each.name);
      end loop;
      for each in select p.oid::regprocedure as name from pg_proc p where p.pronamespace = 'public'::regnamespace loop
        execute format('alter function %s owner to ${user}', each.name);
      end loop;
    end
    $$`);
  const { host, database } = db.owner;
  return {
    connection: { ...db.owner, user },
    url: `postgresql://${user}@localhost/${database}?host=${encodeURIComponent(host)}`,
    /** After the database was closed. */
    drop: () =>
      asSuperuser({ ...db.owner, database: 'postgres' }, (client) => client.query(`drop role ${user}`)),
  };
}

/** Every institution with its full reconcile, which finds nothing. */
export async function reconcileAll({ db, service }: TestService): Promise<void> {
  const { database } = service.context;
  for (const { id } of await db.superuser<{ id: InstitutionId }>(
    'select institution_id as id from institutions',
  )) {
    const startedAt = new Date();
    const findings = new KeptFindings();
    const checkpoint = await reconcile(database, id, { onFinding: (finding) => findings.add(finding) });
    assert.deepEqual(findings.kept, []);
    const run = { startedAt, finishedAt: new Date(), findings, checkpoint };
    await recordRun(database, id, run);
  }
}

/** The next events have keys behind the end of the newest partition of those that the institution has events in. */
export async function fillPartition(
  { db, service }: TestService,
  institutionId: InstitutionId,
): Promise<void> {
  await db.superuser(
    `select setval('outbox_event_key_seq', (select min(end_key) from event_partitions where end_key >
       (select max(event_key) from outbox where institution_id = $1)) + 1)`,
    [institutionId],
  );
  await service.context.database.directory(makeEventPartitions);
}

/** Other databases of the cluster hold the feed back, and alerts follow it. */
export async function untilRead({ db }: TestService): Promise<void> {
  await eventually(
    () =>
      db.superuser<{ behind: boolean }>(
        `select coalesce((p.epoch, p.xid, p.event_key) < (o.epoch, o.xid, o.event_key), true) as behind
         from institutions i
         cross join lateral (select * from outbox o where o.institution_id = i.institution_id
                             order by o.epoch desc, o.xid desc, o.event_key desc limit 1) o
         left join alert_positions p on p.institution_id = i.institution_id`,
      ),
    (rows) => rows.every(({ behind }) => !behind),
  );
}

/** `sharedraft events archive` in a process of its own, by this login. */
export function startArchive(
  { db }: TestService,
  { folder, url }: { readonly folder: string; readonly url: string },
) {
  const child = spawn(process.execPath, ['src/main.ts', 'events', 'archive', '--to', folder, '--yes'], {
    env: {
      PATH: process.env.PATH,
      PUBLIC_URL: 'http://sharedraft.test',
      SECRET_KEY: testSecretKey,
      DATABASE_URL: db.url,
      MIGRATION_DATABASE_URL: url,
    },
  });
  const ended = once(child, 'close');
  const output = Promise.all([text(child.stdout), text(child.stderr)]).then(async (parts) => {
    await ended;
    return parts.join('');
  });
  return { child, output };
}
