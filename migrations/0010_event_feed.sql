-- The feed of events: the outbox in the order in which transactions were numbered, read only as far as all of them have
-- ended, so that what commits late is not skipped.

-- Transactions are numbered by the cluster. In another one, where the data was restored, the numbers may start again below
-- those that came with the data; then a new epoch begins, and what was before stands before it.
alter table outbox add column epoch integer not null default 0 check (epoch >= 0);

create index outbox_feed on outbox (institution_id, epoch, xid, event_key);

create table event_epochs (
  institution_id  integer not null references institutions,
  epoch           integer not null check (epoch > 0),
  started_at      timestamptz not null,
  primary key (institution_id, epoch)
);

alter table event_epochs enable row level security;
alter table event_epochs force row level security;
create policy institution on event_epochs
  using (institution_id = (select current_setting('sharedraft.institution')::integer));
grant select, insert on event_epochs to sharedraft_service;
