-- The number of an account's newest entry before a moment, or 0. Entries are numbered in the order of their time: a binary search
-- reads twenty of a million and needs no index of its own.
create or replace function entries_before(institution integer, account bigint, moment timestamptz) returns bigint
language plpgsql stable
set search_path = pg_catalog, public, pg_temp
as $$
declare
  low bigint := 0;
  high bigint;
  middle bigint;
begin
  select b.seq into high from balances b where b.institution_id = institution and b.account_key = account;
  while low < high loop
    middle := (low + high + 1) / 2;
    if (select e.recorded_at < moment from entries e
        where e.institution_id = institution and e.account_key = account and e.seq = middle) then
      low := middle;
    else
      high := middle - 1;
    end if;
  end loop;
  return low;
end
$$;
