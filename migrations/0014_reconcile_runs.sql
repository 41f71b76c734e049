-- The last run of reconcile of each institution, for the metrics.

create table reconcile_runs (
  institution_id  integer not null references institutions,
  started_at      timestamptz not null,
  finished_at     timestamptz not null,
  findings        integer not null check (findings >= 0),
  primary key (institution_id)
);

comment on table reconcile_runs is 'The last complete run of reconcile of each institution.';
comment on column reconcile_runs.findings is 'Rows that break a rule.';

select bind_to_institution('reconcile_runs');

grant select, insert, update (started_at, finished_at, findings) on reconcile_runs to sharedraft_service;
