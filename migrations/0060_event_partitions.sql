-- Events in partitions by their key, which follows time and no clock (ADR 58). The table of before becomes the first partition: only the
-- catalogs change, and a writer waits for that moment.

create table event_partitions (
  first_key  bigint primary key check (first_key > 0),
  end_key    bigint not null unique,
  made_at    timestamptz not null,
  last_key   bigint not null check (last_key >= 0),
  constraint event_partitions_order check (first_key < end_key)
);

comment on table event_partitions is 'The partitions of outbox; each is called outbox_<first_key>.';
comment on column event_partitions.end_key is 'The first key behind the partition.';
comment on column event_partitions.made_at is 'By the clock of the database.';
comment on column event_partitions.last_key is 'The last event when the partition was made: with made_at, how fast events come.';

grant select on event_partitions to sharedraft_service;

-- Readers of the feed lock the events before the marks.
lock table outbox in access exclusive mode;
create temporary table moved on commit drop as
  select coalesce(pg_sequence_last_value('outbox_event_key_seq'), 0) as last_key,
         substring(pg_get_constraintdef(k.oid) from 'event_key < ''?(\d+)')::bigint as end_key
  from pg_constraint k where k.conrelid = 'outbox'::regclass and k.conname = 'outbox_first_partition';

alter table event_marks drop constraint event_marks_institution_id_event_key_fkey;
alter table outbox rename to outbox_1;
alter table outbox_1 alter column event_key drop identity;
alter table outbox_1 rename constraint outbox_pkey to outbox_1_pkey;
alter index outbox_feed rename to outbox_1_feed;
alter index outbox_secrets rename to outbox_1_secrets;
alter index outbox_of_members rename to outbox_1_of_members;
drop trigger outbox_secret_deleted on outbox_1;
revoke all on outbox_1 from sharedraft_service;

create table outbox (
  institution_id     integer not null,
  event_key          bigint not null generated always as identity,
  xid                xid8 not null default pg_current_xact_id(),
  epoch              integer not null default 0 constraint outbox_epoch_check check (epoch >= 0),
  kind               text not null,
  subject_key        bigint not null,
  from_key           bigint,
  from_seq           bigint,
  to_key             bigint,
  to_seq             bigint,
  data               jsonb,
  secret             bytea,
  secret_expires_at  timestamptz,
  recorded_at        timestamptz not null,
  primary key (institution_id, event_key)
) partition by range (event_key);
create index outbox_feed on outbox (institution_id, epoch, xid, event_key);
create index outbox_secrets on outbox (institution_id, secret_expires_at) where secret is not null;
create index outbox_of_members on outbox (institution_id, subject_key) where kind like 'member.%';

comment on table outbox is
  'Events, each written in the commit of its change. Key order is not commit order: a reader goes by (epoch, xid, event_key) and stops below the oldest running transaction (ADR 15). Partitioned by event_key (ADR 58).';
comment on column outbox.epoch is 'Number of event_epochs that the event belongs to.';
comment on column outbox.subject_key is 'Key of the transfer or user.';
comment on column outbox.from_seq is 'Number of the entry on the source account; gapless for each account.';
comment on column outbox.to_seq is 'Number of the entry on the destination account.';
comment on column outbox.secret is 'Sealed; deleted on delivery or expiry.';

-- The constraint of 0058 proves the range of the first partition, so that no row is read.
do $$
declare
  bound record;
begin
  select m.last_key, m.end_key into strict bound from moved m;
  execute format('alter table outbox attach partition outbox_1 for values from (minvalue) to (%s)', bound.end_key);
  if bound.last_key > 0 then
    perform setval('outbox_event_key_seq', bound.last_key);
  end if;
  insert into event_partitions (first_key, end_key, made_at, last_key) values (1, bound.end_key, now(), bound.last_key);
end
$$;
alter table outbox_1 drop constraint outbox_first_partition;
create table outbox_default partition of outbox default;

comment on table outbox_1 is 'A partition of outbox: the first events.';
comment on table outbox_default is
  'A partition of outbox: events beyond every partition. It is empty while the maintenance makes partitions ahead, and loses none if it does not.';

create trigger outbox_secret_deleted before update on outbox
  for each row execute function check_event_secret_deleted();
alter table event_marks add foreign key (institution_id, event_key) references outbox not valid;

-- Policies of the parent bind its readers. Those of a partition, which the service may not name, bind everyone else.
select bind_to_institution('outbox', 'outbox_default');

grant select, insert (institution_id, epoch, kind, subject_key, from_key, from_seq, to_key, to_seq, data, secret,
                      secret_expires_at, recorded_at),
  update (secret, secret_expires_at) on outbox to sharedraft_service;
grant usage on sequence outbox_event_key_seq to sharedraft_service;

select make_event_partitions();
