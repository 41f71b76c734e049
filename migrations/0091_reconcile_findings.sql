-- Complete runs of reconcile with the rows that they found off. reconcile_runs keeps the last one of each institution.

create table reconcile_results (
  institution_id  integer not null references institutions,
  run_key         bigint not null generated always as identity,
  started_at      timestamptz not null,
  finished_at     timestamptz not null,
  changed_since   timestamptz,
  findings        integer not null,
  kept            integer not null,
  primary key (institution_id, run_key),
  constraint reconcile_results_kept check (kept between 0 and findings and (kept = 0) = (findings = 0))
);

comment on table reconcile_results is 'Complete runs of reconcile. A run never changes.';
comment on column reconcile_results.changed_since is 'The checkpoint behind which the run looked for changes. Null: it checked every row.';
comment on column reconcile_results.findings is 'Rows that break a rule.';
comment on column reconcile_results.kept is 'Those of them that stand in reconcile_findings: the first hundred of each kind.';

create table reconcile_findings (
  institution_id  integer not null,
  run_key         bigint not null,
  place           integer not null,
  kind            text not null,
  subject         text not null,
  detail          text not null,
  account_id      text collate "C",
  entry           bigint,
  transfer_id     text collate "C",
  expected        numeric,
  found           numeric,
  currency        text collate "C",
  primary key (institution_id, run_key, place),
  foreign key (institution_id, run_key) references reconcile_results on delete cascade,
  constraint reconcile_findings_place_check check (place >= 1),
  constraint reconcile_findings_kind_check check (kind in (
    'trial-balance', 'posting-sum', 'account-balance', 'balance-posted', 'balance-newest-entry', 'entry-of-no-account', 'entry-gap',
    'entry-running-balance', 'entry-time', 'ahead-of-clock', 'hold-out', 'hold-in', 'entry-held', 'entry-transfer',
    'transfer-entries', 'transfer-id', 'used-id', 'transfer-accounts', 'pending-terms', 'core-instruction', 'reversal',
    'loan-payment', 'loan-dues', 'limit-counter', 'limit-use', 'contribution-use', 'core-entry', 'core-transaction', 'event-gap',
    'event-entry', 'event-transfer')),
  constraint reconcile_findings_subject_check check (length(subject) between 1 and 200),
  constraint reconcile_findings_detail_check check (length(detail) between 1 and 1000),
  constraint reconcile_findings_account_id_check check (length(account_id) between 1 and 64),
  constraint reconcile_findings_transfer_id_check check (length(transfer_id) between 1 and 64),
  constraint reconcile_findings_currency_check check (currency ~ '^[A-Z]{3}$'),
  constraint reconcile_findings_entry check (entry is null or entry > 0 and account_id is not null),
  constraint reconcile_findings_amounts check (
    num_nulls(expected, found, currency) = 3
    or (num_nulls(expected, found, currency) = 0 and expected <> found and scale(expected) = 0 and scale(found) = 0))
);

comment on table reconcile_findings is 'The rows that a run of reconcile found off, in the order in which it found them. Ids and amounts, no personal data.';
comment on column reconcile_findings.kind is 'The check that the row breaks.';
comment on column reconcile_findings.subject is 'The row, in words for people.';
comment on column reconcile_findings.detail is 'The difference in words. Amounts are in minor units.';
comment on column reconcile_findings.expected is 'In minor units. Null unless an amount differs.';

select bind_to_institution('reconcile_results', 'reconcile_findings');

-- Findings go with their run, and a run goes when its time is over.
grant select, insert, delete on reconcile_results to sharedraft_service;
grant select, insert on reconcile_findings to sharedraft_service;

create trigger reconcile_results_whole after insert on reconcile_results
  referencing new table as written for each statement execute function check_reconcile_result();
create trigger reconcile_findings_whole after insert on reconcile_findings
  referencing new table as written for each statement execute function check_reconcile_result();
create trigger reconcile_results_kept_for_a_time before delete on reconcile_results
  for each row execute function check_reconcile_result_old();

alter table reconcile_runs add column run_key bigint;
comment on column reconcile_runs.run_key is 'The run with its findings. Null for one of a version that kept none.';
grant update (run_key) on reconcile_runs to sharedraft_service;
