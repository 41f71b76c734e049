-- The clock of a demo institution moves forward only: dates already given stay in the past.
create or replace function check_sandbox_clock() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if new.clock_ahead_seconds < old.clock_ahead_seconds then
    raise exception 'institution %: the clock can only move forward', old.code using errcode = 'SD030';
  end if;
  return new;
end
$$;
