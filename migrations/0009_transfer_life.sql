-- The whole life of a transfer: policies that hold one for review or until the next business day, what a pending
-- one waits for, who approved it, reversal, payment options, IRA years, limits by month and by account.

-- ---------------------------------------------------------------------------------------------------------
-- What the institution lays down. Changed rarely, by an operator.

create table transfer_policies (
  institution_id         integer not null references institutions,
  transfer_type          text not null check (transfer_type in
                           ('STANDARD', 'CROSS_MEMBER', 'IRA_CONTRIBUTION', 'LOAN_PAYMENT', 'INTRA_FI')),
  currency               text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  -- More than this is held for review; more than the second amount needs two persons.
  review_above           bigint check (review_above >= 0),
  second_approval_above  bigint check (second_approval_above >= review_above),
  -- How long a review may take, and what becomes of a transfer that nobody reviewed.
  review_seconds         integer check (review_seconds between 1 and 2592000),
  unreviewed             text check (unreviewed in ('POST', 'EXPIRE')),
  -- Ordered after this time of a business day, or on any other day: processed on the next business day.
  cut_off                time(0),
  payment_options        text[] not null check (
                           payment_options <@ array['DEFAULT', 'PRINCIPAL_ONLY', 'INTEREST_ONLY', 'EXCESS_TO_PRINCIPAL']
                           and 'DEFAULT' = any (payment_options)),
  primary key (institution_id, transfer_type, currency),
  check (num_nonnulls(review_above, review_seconds, unreviewed) in (0, 3)),
  check (second_approval_above is null or review_above is not null)
);

-- Exceptions to the calendar of the Federal Reserve: a day kept closed, or open, against it.
create table business_days (
  institution_id  integer not null references institutions,
  day             date not null,
  open            boolean not null,
  primary key (institution_id, day)
);

-- Corrections of the built-in yearly limits for IRA contributions, in the institution's currency.
create table contribution_limits (
  institution_id  integer not null references institutions,
  tax_year        smallint not null check (tax_year between 1975 and 2999),
  base            bigint not null check (base >= 0),
  catch_up        bigint not null check (catch_up >= 0),
  primary key (institution_id, tax_year)
);

-- ---------------------------------------------------------------------------------------------------------
-- Limits: by day or month, of a user, a membership or one account (the monthly counts on savings).

alter table transfer_limits rename column max_amount_per_day to max_amount;
alter table transfer_limits rename column max_count_per_day to max_count;
alter table transfer_limits drop constraint transfer_limits_subject_check;
alter table transfer_limits
  add check (subject in ('USER', 'CUSTOMER', 'ACCOUNT')),
  add column period text not null default 'DAY' check (period in ('DAY', 'MONTH')),
  -- Only what leaves accounts of this type counts.
  add column source_type text,
  -- 0 stands in the counters for the yearly limit on IRA contributions, whose subject is a person.
  add check (limit_key > 0);
alter table transfer_limits alter column period drop default;

alter table limit_counters rename column day to period_start;

-- What a transfer counted, where it may have to be given back: of a pending one all of it, of an IRA contribution
-- for as long as it can be reversed.
create table limit_uses (
  institution_id  integer not null,
  transfer_key    bigint not null,
  limit_key       integer not null,
  subject_key     bigint not null,
  period_start    date not null,
  amount          bigint not null check (amount > 0),
  primary key (institution_id, transfer_key, limit_key, subject_key)
);

-- ---------------------------------------------------------------------------------------------------------
-- Transfers that wait, and what they wait for. A small table: a row lives as long as its transfer is PENDING.

create table pending_transfers (
  institution_id    integer not null,
  transfer_key      bigint not null,
  held_for          text not null check (held_for in ('REVIEW', 'CUT_OFF')),
  due_at            timestamptz not null,
  when_due          text not null check (when_due in ('POST', 'EXPIRE')),
  approvals_needed  smallint not null check (approvals_needed between 0 and 2),
  -- Approved before this, it still waits until then.
  not_before        timestamptz,
  primary key (institution_id, transfer_key),
  check (held_for = 'REVIEW' or (approvals_needed = 0 and when_due = 'POST')),
  check (when_due = 'EXPIRE' or not_before is null or due_at >= not_before)
);
create index pending_transfers_due on pending_transfers (institution_id, due_at);

-- One row a person: who approves twice has approved once.
create table transfer_approvals (
  institution_id  integer not null,
  transfer_key    bigint not null,
  operator        text not null check (operator <> ''),
  approved_at     timestamptz not null,
  primary key (institution_id, transfer_key, operator)
);

alter table transfers
  add column payment_option text check
    (payment_option in ('DEFAULT', 'PRINCIPAL_ONLY', 'INTEREST_ONLY', 'EXCESS_TO_PRINCIPAL')),
  add column previous_year_contribution boolean,
  -- The completed transfer that this one takes back.
  add column reverses_key bigint,
  -- Who at the institution gave the last order about it: approved, declined, reversed.
  add column operator text check (operator <> '');
create unique index transfers_reversed_once on transfers (institution_id, reverses_key)
  where reverses_key is not null and status <> 'FAILED';

alter table accounts
  add column transfer_restriction text check
    (transfer_restriction in ('EXCLUDE_ALL', 'EXCLUDE_AS_FROM', 'EXCLUDE_AS_TO'));

-- What must be paid for the loan to be in good standing; met, it clears delinquency.
alter table loans add column amount_due bigint not null default 0 check (amount_due >= 0);

-- A reversal gives back, part by part, what its payment took.
alter table loan_payments
  drop constraint loan_payments_to_fees_check,
  drop constraint loan_payments_to_interest_check,
  drop constraint loan_payments_to_principal_check,
  add column to_due bigint not null default 0,
  add check ((to_fees >= 0 and to_interest >= 0 and to_principal >= 0 and to_due >= 0)
          or (to_fees <= 0 and to_interest <= 0 and to_principal <= 0 and to_due <= 0));
alter table loan_payments alter column to_due drop default;

-- ---------------------------------------------------------------------------------------------------------
-- What must be true of pending transfers.

create function check_pending() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  -- Each waits with its amount held on both accounts, by entries of its own.
  if exists (
    select from written p
    left join lateral (
      select t.status, t.amount, t.from_key, t.to_key from transfers t
      where t.institution_id = p.institution_id and t.transfer_key = p.transfer_key
      offset 0
    ) t on true
    left join lateral (
      select e.held_out_after - coalesce(before.held_out_after, 0) as held
      from entries e
      left join entries before on before.institution_id = e.institution_id and before.account_key = e.account_key
        and before.seq = e.seq - 1
      where e.institution_id = p.institution_id and e.account_key = t.from_key and e.posting_key = p.transfer_key
        and e.kind = 'HOLD'
        and e.seq > (select b.seq - 2000 from balances b
                     where b.institution_id = p.institution_id and b.account_key = t.from_key)
      offset 0
    ) o on true
    where t.status is distinct from 'PENDING' or o.held is distinct from t.amount
  ) then
    raise exception 'transfers: a pending transfer does not hold its amount' using errcode = 'SD006';
  end if;
  return null;
end
$$;

create trigger pending_transfers_written after insert on pending_transfers
  referencing new table as written
  for each statement execute function check_pending();

-- A pending transfer is posted when its time has come, or when as many persons as needed have approved it.
create or replace function check_transfer_transition() returns trigger language plpgsql as $$
begin
  if old.status <> 'PENDING' then
    raise exception 'transfer % is final', old.transfer_id using errcode = 'SD005';
  end if;
  if new.status = 'COMPLETED' and not exists (
    select from pending_transfers p
    where p.institution_id = new.institution_id and p.transfer_key = new.transfer_key
      and ((p.when_due = 'POST' and p.due_at <= new.settled_at)
        or (p.held_for = 'REVIEW'
            and (p.not_before is null or p.not_before <= new.settled_at)
            and p.approvals_needed <= (
              select count(*) from transfer_approvals a
              where a.institution_id = p.institution_id and a.transfer_key = p.transfer_key)))
  ) then
    raise exception 'transfer % is neither due nor approved', old.transfer_id using errcode = 'SD007';
  end if;
  return new;
end
$$;

create function check_loan_payments() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  if exists (
    select from written p
    left join lateral (
      select e.amount from entries e
      where e.institution_id = p.institution_id and e.account_key = p.account_key and e.seq = p.seq
      offset 0
    ) e on true
    where e.amount is distinct from p.to_fees + p.to_interest + p.to_principal
  ) then
    raise exception 'loans: the parts of a payment do not add up to it' using errcode = 'SD008';
  end if;
  return null;
end
$$;

create trigger loan_payments_written after insert on loan_payments
  referencing new table as written
  for each statement execute function check_loan_payments();

-- ---------------------------------------------------------------------------------------------------------
-- The second wall, for the new tables.

do $$
declare
  tenant text;
begin
  foreach tenant in array array[
    'transfer_policies', 'business_days', 'contribution_limits', 'limit_uses', 'pending_transfers', 'transfer_approvals'
  ] loop
    execute format('alter table %I enable row level security', tenant);
    execute format('alter table %I force row level security', tenant);
    execute format(
      'create policy institution on %I using (institution_id = '
      '(select current_setting(''sharedraft.institution'')::integer))', tenant);
  end loop;
end
$$;

grant select on transfer_policies, business_days, contribution_limits, limit_uses, pending_transfers,
  transfer_approvals to sharedraft_service;
grant insert, update, delete on transfer_policies, business_days, contribution_limits to sharedraft_service;
grant insert, delete on limit_uses to sharedraft_service;
grant insert, delete on pending_transfers to sharedraft_service;
grant update (due_at, when_due) on pending_transfers to sharedraft_service;
grant insert on transfer_approvals to sharedraft_service;
grant update (operator) on transfers to sharedraft_service;
grant update (transfer_restriction) on accounts to sharedraft_service;
grant update (amount_due) on loans to sharedraft_service;
