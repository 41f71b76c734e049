-- Erasure: the personal data of a person whose accounts are closed and whose records were kept long enough. The row and its ids stay, since
-- accounts and entries hang on them.

alter table persons add column erased_at timestamptz;
create trigger persons_erased before update on persons
  for each row when (old.erased_at is not null or new.erased_at is not null) execute function check_person_erased();
grant update (erased_at, self_declared) on persons to sharedraft_service;
comment on column persons.erased_at is 'When the personal data was erased. No import brings it back.';

create index outbox_of_members on outbox (institution_id, subject_key) where kind like 'member.%';
