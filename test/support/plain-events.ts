import { templateRoles } from './postgres.ts';

/**
 * Statements that make the events a plain table again, as migration 0057 left it, with the rows of now: for the test of the migration,
 * and to measure the difference.
 */
export const plainEvents: readonly string[] = `
  drop function make_event_partitions();
  drop function event_partition_figures();
  alter table event_marks drop constraint if exists event_marks_institution_id_event_key_fkey;
  create table plain (like outbox including all excluding identity excluding indexes);
  insert into plain select * from outbox;
  drop table outbox;
  drop table event_partitions;
  alter table plain rename to outbox;
  alter table outbox alter column event_key add generated always as identity;
  select setval('outbox_event_key_seq', (select greatest(1200, max(event_key)) from outbox));
  alter table outbox add constraint outbox_pkey primary key (institution_id, event_key);
  create index outbox_feed on outbox (institution_id, epoch, xid, event_key);
  create index outbox_secrets on outbox (institution_id, secret_expires_at) where secret is not null;
  create index outbox_of_members on outbox (institution_id, subject_key) where kind like 'member.%';
  create trigger outbox_secret_deleted before update on outbox
    for each row execute function check_event_secret_deleted();
  alter table event_marks add foreign key (institution_id, event_key) references outbox;
  select bind_to_institution('outbox');
  create policy backup on outbox for select to sharedraft_backup using (true);
  grant select on outbox to sharedraft_backup;
  grant select, insert (institution_id, epoch, kind, subject_key, from_key, from_seq, to_key, to_seq, data, secret,
                        secret_expires_at, recorded_at),
    update (secret, secret_expires_at) on outbox to sharedraft_service;
  grant usage on sequence outbox_event_key_seq to sharedraft_service;
  delete from schema_migrations where version between 58 and 61`
  .replaceAll('sharedraft_service', templateRoles.service)
  .replaceAll('sharedraft_backup', templateRoles.backup)
  .split(';');
