-- The number of an account's newest entry from before a moment, 0 when there is none: entries are numbered in the order
-- of their time, so that halving finds it in twenty look-ups among a million, without an index of its own.
create function entries_before(institution integer, account bigint, moment timestamptz) returns bigint
language plpgsql stable as $$
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
