-- The newest change of each record that the core has dated, so that an older one that arrives late is not laid over it.

create table core_record_versions (
  institution_id  integer not null references institutions,
  record          text collate "C" not null check (record in ('person', 'member', 'memberPerson', 'account', 'holder')),
  record_id       text collate "C" not null check (length(record_id) between 1 and 160),
  changed_at      timestamptz not null,
  primary key (institution_id, record, record_id)
);

comment on table core_record_versions is
  'The time of the newest change of each record for which the core stated one. The row of a holder or a person that was removed stays.';
comment on column core_record_versions.record_id is 'The id in the answers of a delivery: of a holder the account and the person.';

select bind_to_institution('core_record_versions');

grant select, insert, update on core_record_versions to sharedraft_service;
