-- Counts openings and their deposits by day, up to the institution's caps. It runs as the owner: no opening goes uncounted.
create or replace function count_opening() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
  most institutions;
  counted opening_counters;
begin
  select * into most from institutions where institution_id = new.institution_id;
  if tg_op = 'INSERT' then
    insert into opening_counters as c values (new.institution_id, new.opened_on, 1, 0)
    on conflict (institution_id, day) do update set openings = c.openings + 1
    returning * into counted;
    if counted.openings > most.openings_per_day then
      raise exception 'openings: the daily cap on openings is reached' using errcode = 'SD042';
    end if;
  elsif old.deposited_on is not null then
    raise exception 'openings: the deposit is already paid' using errcode = 'SD043';
  end if;
  if new.deposited_on is not null and new.deposit > 0 then
    insert into opening_counters as c values (new.institution_id, new.deposited_on, 0, new.deposit)
    on conflict (institution_id, day) do update set deposited = c.deposited + new.deposit
    returning * into counted;
    if counted.deposited > most.opening_deposits_per_day then
      raise exception 'openings: the daily cap on deposits is reached' using errcode = 'SD042';
    end if;
  end if;
  return null;
end
$$;

revoke execute on function count_opening() from public;
