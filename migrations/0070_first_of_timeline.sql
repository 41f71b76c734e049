-- The first transaction of the service on the timeline. Transactions before it that were rolled back are not losses of the next timeline.
alter table event_timeline add column first_transaction xid8 not null default '3';
comment on column event_timeline.first_transaction is 'The first transaction of the service on the timeline.';
