-- Deletes counters of past periods and returns their number. Kept are 70 days, which cover this month and the last, counters with a
-- pending use, and the yearly counters of IRA contributions, which a reversal lowers. Only the owner may delete.
create or replace function expire_limit_counters(before date, most integer) returns bigint
language sql security definer
set search_path = pg_catalog, public, pg_temp
as $$
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
