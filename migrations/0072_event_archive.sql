-- Old events leave for an archive, a whole partition at a time (ADR 69). These records of them stay.

alter table event_partitions
  add column closed_at    timestamptz,
  add column closed_xid   xid8,
  add column events       bigint check (events >= 0),
  add column digest       bytea check (length(digest) = 32),
  add column written_at   timestamptz,
  add column dropped_at   timestamptz,
  add constraint event_partitions_steps check (
    (closed_at is null) = (closed_xid is null) and num_nulls(events, digest, written_at) in (0, 3)
    and (written_at is null or closed_at is not null) and (dropped_at is null or written_at is not null));
comment on column event_partitions.closed_at is 'From then on the feed begins behind its events.';
comment on column event_partitions.closed_xid is 'The transaction that closed it. It is dropped once no older one runs.';
comment on column event_partitions.events is 'Events in the file of the archive.';
comment on column event_partitions.digest is 'SHA-256 of the file of the archive.';
comment on column event_partitions.dropped_at is 'Its events are in the archive only.';

create table event_horizons (
  institution_id  integer primary key references institutions,
  epoch           integer not null,
  xid             xid8 not null,
  event_key       bigint not null,
  number          bigint not null check (number > 0)
);
comment on table event_horizons is
  'The last event of each institution in the partitions that were closed. The feed begins behind it. An institution without a row has all of its events.';
comment on column event_horizons.number is 'Number of that event in the feed.';

create table event_archived_entries (
  institution_id  integer not null references institutions,
  account_key     bigint not null,
  entries         bigint not null check (entries > 0),
  seq_sum         numeric not null check (seq_sum > 0),
  last_seq        bigint not null check (last_seq > 0),
  primary key (institution_id, account_key)
);
comment on table event_archived_entries is
  'The entries of an account whose events are in the archive, so that reconcile knows that each entry has had one.';
comment on column event_archived_entries.seq_sum is 'Sum of the numbers of those entries on the account.';
comment on column event_archived_entries.last_seq is 'The highest of them.';

select bind_to_institution('event_horizons', 'event_archived_entries');

grant select on event_horizons, event_archived_entries to sharedraft_service;

-- The mark of an archived event stays, since numbers are counted from it. It has any number. Readers of the feed lock the events before the marks.
lock table outbox in access exclusive mode;
alter table event_marks drop constraint event_marks_institution_id_event_key_fkey;
alter table event_marks drop constraint event_marks_number_check;
alter table event_marks add constraint event_marks_number_check check (number > 0) not valid;
comment on table event_marks is
  'The number of every five hundredth event in the order of the feed, and of the last event in the archive.';
