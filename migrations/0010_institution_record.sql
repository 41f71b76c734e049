-- The system that is the record of an institution's accounts.

alter table institutions add column record text not null default 'ledger' check (record in ('ledger', 'core'));

comment on column institutions.record is
  'ledger: this ledger is the record of the accounts. core: the core system is, and this ledger is its copy. Fixed by the first import.';
