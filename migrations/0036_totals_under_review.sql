-- What a limit's number has ever counted: another limit may not go on under it, also after it was taken away.
create table limit_keys (
  institution_id  integer not null references institutions,
  limit_key       integer not null check (limit_key > 0),
  counts          text collate "C" not null,
  primary key (institution_id, limit_key),
  unique (institution_id, limit_key, counts)
);
alter table limit_keys enable row level security;
alter table limit_keys force row level security;
create policy institution on limit_keys
  using (institution_id = (select current_setting('sharedraft.institution')::integer));
grant select, insert on limit_keys to sharedraft_service;

alter table transfer_limits
  add column counts text collate "C" not null generated always as (
    subject || ' ' || period || ' ' || coalesce(transfer_type, '') || ' ' || coalesce(source_type, '') || ' ' || currency
  ) stored;

-- The owner sees all institutions for the time of the next two statements.
alter table limit_keys no force row level security;
alter table transfer_limits no force row level security;
alter table limit_counters no force row level security;
insert into limit_keys (institution_id, limit_key, counts)
select institution_id, limit_key, counts from transfer_limits;
-- Of a number that was given up nobody knows any more what it counted; no limit may have it again.
insert into limit_keys (institution_id, limit_key, counts)
select distinct institution_id, limit_key, 'unknown' from limit_counters where limit_key > 0
on conflict do nothing;
alter table limit_keys force row level security;
alter table transfer_limits force row level security;
alter table limit_counters force row level security;

alter table transfer_limits
  add constraint transfer_limits_counts foreign key (institution_id, limit_key, counts)
    references limit_keys (institution_id, limit_key, counts),
  add column review_above bigint check (review_above >= 0),
  add constraint transfer_limits_reviewed check (review_above < max_amount),
  drop constraint transfer_limits_check,
  add constraint transfer_limits_check check (num_nonnulls(max_per_transfer, max_amount, max_count, review_above) > 0);

-- What was not held for review stays within the total above which everything is.
alter table limit_counters
  add column reviewed bigint not null default 0 check (reviewed >= 0),
  add column review_above bigint,
  add constraint limit_counters_reviewed check (review_above is null or amount - reviewed <= review_above);
grant update (reviewed, review_above) on limit_counters to sharedraft_service;

-- As counter_state, and what was reviewed. That one stays for processes of before.
create type reviewed_counter as (
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

-- Counters of periods that are over. 70 days stay, whatever is asked: the present month and the one before. Those that a
-- pending transfer may still give back stay, and so does a year's count of contributions, which a reversal lowers.
create index limit_counters_by_period on limit_counters (institution_id, period_start) where limit_key > 0;
create function expire_limit_counters(before date, most integer) returns bigint
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  with gone as (
    delete from public.limit_counters c
    using (
      select o.limit_key, o.subject_key, o.period_start from public.limit_counters o
      where o.institution_id = current_setting('sharedraft.institution')::integer and o.limit_key > 0
        and o.period_start < least(before, (now() at time zone 'UTC')::date - 70)
        and not exists (
          select from public.limit_uses u
          where u.institution_id = o.institution_id and u.limit_key = o.limit_key and u.subject_key = o.subject_key
            and u.period_start = o.period_start)
      order by o.period_start limit most
      for update skip locked) o
    where c.institution_id = current_setting('sharedraft.institution')::integer
      and c.limit_key = o.limit_key and c.subject_key = o.subject_key and c.period_start = o.period_start
    returning 1)
  select count(*) from gone
$$;
revoke execute on function expire_limit_counters(date, integer) from public;
grant execute on function expire_limit_counters(date, integer) to sharedraft_service;
