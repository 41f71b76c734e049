-- Rules that an institution sets for transfers: reviews, cut-offs, limits and their counters, business days, dual control.

create table transfer_policies (
  institution_id         integer not null references institutions,
  transfer_type          text not null check (transfer_type in
                           ('STANDARD', 'CROSS_MEMBER', 'IRA_CONTRIBUTION', 'LOAN_PAYMENT', 'INTRA_FI')),
  currency               text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  review_above           bigint check (review_above >= 0),
  second_approval_above  bigint,
  review_seconds         integer check (review_seconds between 1 and 2592000),
  on_review_timeout      text check (on_review_timeout in ('POST', 'EXPIRE')),
  cut_off                time(0),
  payment_options        text[] not null check (
                           payment_options <@ array['DEFAULT', 'PRINCIPAL_ONLY', 'INTEREST_ONLY', 'EXCESS_TO_PRINCIPAL']
                           and 'DEFAULT' = any (payment_options)),
  primary key (institution_id, transfer_type, currency),
  constraint transfer_policies_review check (num_nonnulls(review_above, review_seconds, on_review_timeout) in (0, 3)),
  constraint transfer_policies_second_approval check (second_approval_above is null or review_above is not null),
  constraint transfer_policies_second_approval_above check (second_approval_above >= review_above)
);

create trigger transfer_policies_confirmed before insert or update or delete on transfer_policies
  for each statement execute function check_rules_confirmed();

comment on table transfer_policies is 'Review, cut-off and payment options by transfer type and currency.';
comment on column transfer_policies.review_above is 'A transfer of more is held for review.';
comment on column transfer_policies.second_approval_above is 'A transfer of more needs two approvals. Any such policy turns dual control on.';
comment on column transfer_policies.review_seconds is 'Longest time of a review.';
comment on column transfer_policies.on_review_timeout is 'Outcome of a review that runs out of time.';
comment on column transfer_policies.cut_off is
  'A transfer ordered later on a business day, or on any other day, is processed on the next business day.';

create table limit_keys (
  institution_id  integer not null references institutions,
  limit_key       integer not null check (limit_key > 0),
  counts          text collate "C" not null,
  primary key (institution_id, limit_key),
  unique (institution_id, limit_key, counts)
);

comment on table limit_keys is
  'The meaning of each limit number: a number never counts something else, also after its limit was removed.';
comment on column limit_keys.counts is 'Subject, period, transfer type, source type and currency.';

create table transfer_limits (
  institution_id    integer not null references institutions,
  limit_key         integer not null check (limit_key > 0),
  subject           text not null check (subject in ('USER', 'CUSTOMER', 'ACCOUNT')),
  period            text not null check (period in ('DAY', 'MONTH')),
  transfer_type     text check (transfer_type in
                      ('STANDARD', 'CROSS_MEMBER', 'IRA_CONTRIBUTION', 'LOAN_PAYMENT', 'INTRA_FI')),
  source_type       text,
  currency          text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  max_per_transfer  bigint check (max_per_transfer >= 0),
  max_amount        bigint check (max_amount >= 0),
  max_count         integer check (max_count >= 0),
  review_above      bigint check (review_above >= 0),
  counts            text collate "C" not null generated always as (
                      subject || ' ' || period || ' ' || coalesce(transfer_type, '') || ' ' || coalesce(source_type, '')
                      || ' ' || currency) stored,
  primary key (institution_id, limit_key),
  constraint transfer_limits_counts foreign key (institution_id, limit_key, counts)
    references limit_keys (institution_id, limit_key, counts),
  constraint transfer_limits_any check (num_nonnulls(max_per_transfer, max_amount, max_count, review_above) > 0),
  constraint transfer_limits_reviewed check (review_above < max_amount)
);

create trigger transfer_limits_confirmed before insert or update or delete on transfer_limits
  for each statement execute function check_rules_confirmed();

comment on table transfer_limits is 'Limits by day or month, of a user, a membership or one account.';
comment on column transfer_limits.transfer_type is 'Null: all types.';
comment on column transfer_limits.source_type is 'Counts only transfers from accounts of this type. Null: all.';
comment on column transfer_limits.review_above is 'Total of the period above which each further transfer is held for review.';

create table limit_counters (
  institution_id  integer not null,
  limit_key       integer not null,
  subject_key     bigint not null,
  period_start    date not null,
  amount          bigint not null check (amount >= 0),
  transfers       integer not null check (transfers >= 0),
  max_amount      bigint,
  max_transfers   integer,
  reviewed        bigint not null default 0 check (reviewed >= 0),
  review_above    bigint,
  primary key (institution_id, limit_key, subject_key, period_start),
  constraint limit_counters_amount check (max_amount is null or amount <= max_amount),
  constraint limit_counters_transfers check (max_transfers is null or transfers <= max_transfers),
  -- Transfers that were not held for review stay within the total above which each is held.
  constraint limit_counters_reviewed check (review_above is null or amount - reviewed <= review_above)
) with (fillfactor = 80);
create index limit_counters_by_period on limit_counters (institution_id, period_start) where limit_key > 0;

create trigger limit_counters_lowered before update on limit_counters
  for each row when (new.amount < old.amount or new.transfers < old.transfers)
  execute function check_limit_counter_lowered();

comment on table limit_counters is 'Use of each limit by subject and period. Bounds are those of the last counted order.';
comment on column limit_counters.limit_key is '0: the yearly limit on IRA contributions, whose subject is a person.';
comment on column limit_counters.reviewed is 'The part of amount that was held for review.';

create table limit_uses (
  institution_id  integer not null,
  transfer_key    bigint not null,
  limit_key       integer not null,
  subject_key     bigint not null,
  period_start    date not null,
  amount          bigint not null check (amount > 0),
  primary key (institution_id, transfer_key, limit_key, subject_key)
);
create index limit_uses_by_counter on limit_uses (institution_id, limit_key, subject_key, period_start);

create trigger limit_uses_written after insert on limit_uses
  for each row execute function check_limit_use();
create trigger limit_uses_dropped after delete on limit_uses
  for each row execute function check_limit_use_removed();

comment on table limit_uses is
  'Counted amounts that may have to be released: of pending transfers, and of IRA contributions that can be reversed.';

create table business_days (
  institution_id  integer not null references institutions,
  day             date not null,
  open            boolean not null,
  primary key (institution_id, day)
);

create trigger business_days_confirmed before insert or update or delete on business_days
  for each statement execute function check_rules_confirmed();

comment on table business_days is 'Exceptions to the calendar of the Federal Reserve.';

create table contribution_limits (
  institution_id  integer not null references institutions,
  tax_year        smallint not null check (tax_year between 1975 and 2999),
  base            bigint not null check (base >= 0),
  catch_up        bigint not null check (catch_up >= 0),
  filing_date     date,
  primary key (institution_id, tax_year),
  constraint contribution_limits_filing_date check (extract(year from filing_date) = tax_year + 1)
);

create trigger contribution_limits_confirmed before insert or update or delete on contribution_limits
  for each statement execute function check_rules_confirmed();

comment on table contribution_limits is
  'Corrections of the built-in yearly limits of IRA contributions, in minor units of the institution''s currency.';
comment on column contribution_limits.catch_up is 'Additional amount from the age of 50.';
comment on column contribution_limits.filing_date is
  'Last day for contributions to this year, if it is not the usual one: Patriots'' Day moves it in Maine and Massachusetts.';

create table proposals (
  institution_id  integer not null references institutions,
  proposal_key    bigint not null generated always as identity,
  kind            text not null check (kind in ('REVERSAL', 'RULES')),
  subject         text collate "C" not null check (length(subject) between 1 and 64),
  proposed_by     text not null check (proposed_by <> ''),
  proposed_sudo   text check (proposed_sudo <> ''),
  proposed_at     timestamptz not null,
  expires_at      timestamptz not null,
  confirmed_by    text check (confirmed_by <> ''),
  confirmed_sudo  text check (confirmed_sudo <> ''),
  confirmed_at    timestamptz,
  confirmed_xid   xid8,
  primary key (institution_id, proposal_key),
  constraint proposals_confirmation check (num_nonnulls(confirmed_by, confirmed_at, confirmed_xid) in (0, 3)),
  constraint proposals_three_days check (extract(epoch from expires_at - proposed_at) between 1 and 259200),
  constraint proposals_confirmed_in_time check (confirmed_at < expires_at),
  constraint proposals_two_persons
    check (not share_a_person(array[proposed_by, proposed_sudo], array[confirmed_by, confirmed_sudo]))
);
create index proposals_by_subject on proposals (institution_id, kind, subject);

create trigger proposals_confirmed before update on proposals
  for each row execute function check_proposal_confirmed();

comment on table proposals is
  'Dual control: one operator proposes a reversal or a change of rules, another confirms it with the same command and content.';
comment on column proposals.subject is 'Id of the transfer to reverse, or SHA-256 of the rules in hex.';
comment on column proposals.confirmed_xid is 'The transaction that confirmed it.';

-- A row as a batch sends it.
create type counter_state as (
  limit_key      integer,
  subject_key    bigint,
  period_start   date,
  amount         bigint,
  transfers      integer,
  max_amount     bigint,
  max_transfers  integer,
  reviewed       bigint,
  review_above   bigint
);

select bind_to_institution('transfer_policies', 'limit_keys', 'transfer_limits', 'limit_counters', 'limit_uses',
                           'business_days', 'contribution_limits', 'proposals');

grant select, insert, update, delete on transfer_policies, transfer_limits, business_days, contribution_limits
  to sharedraft_service;
grant select, insert on limit_keys, limit_counters, limit_uses to sharedraft_service;
grant update (amount, transfers, max_amount, max_transfers, reviewed, review_above) on limit_counters to sharedraft_service;
grant delete on limit_uses to sharedraft_service;
grant select on proposals to sharedraft_service;
grant insert (institution_id, kind, subject, proposed_by, proposed_sudo, proposed_at, expires_at) on proposals
  to sharedraft_service;
grant update (confirmed_by, confirmed_sudo, confirmed_at) on proposals to sharedraft_service;
