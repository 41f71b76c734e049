-- Changes: each commit leaves a row for each thing that it changed, so that a process can ask whether the answers that it
-- remembers are still true (ADR 33). Rows are only added, so no writer waits for another.

create table changes (
  xid             xid8 not null,
  institution_id  integer not null,
  subject         integer not null check (subject >= 0 and subject < 65536)
);
create index changes_by_transaction on changes (xid);

create table changes_kept (
  only_row   boolean primary key default true check (only_row),
  kept_from  xid8 not null,
  next_from  xid8 not null,
  moved_at   timestamptz not null
);
insert into changes_kept (kept_from, next_from, moved_at) values ('0', '0', '-infinity');

comment on table changes is
  'Things that changed, by transaction. Triggers write it, and the service reads it through changes_since() alone. Rows older than some minutes are deleted.';
comment on column changes.xid is 'The transaction of the change. Its row is visible when the change is.';
comment on column changes.subject is
  'Kind and key of the thing, as note_changes() numbers them: 4,096 for each kind, and several keys share one. 0: everything of the institution.';
comment on table changes_kept is 'The oldest transaction whose changes are all still in the table changes.';
comment on column changes_kept.next_from is 'The next value of kept_from; every transaction below it had ended at moved_at.';

-- The tables that remembered answers stand on. Balances need no row: an answer carries their numbers.
select note_changes_of('institutions', 'institution');
select note_changes_of('event_epochs', 'institution');
select note_changes_of('clients', 'institution');
select note_changes_of('identity_providers', 'institution');
select note_changes_of('revocations', 'revocation');
select note_changes_of('users', 'user');
select note_changes_of('user_phones', 'user');
select note_changes_of('persons', 'person');
select note_changes_of('customers', 'customer');
select note_changes_of('customer_persons', 'customer', 'person');
select note_changes_of('accounts', 'account', 'customer');
select note_changes_of('holders', 'account', 'person');
select note_changes_of('loans', 'account');
