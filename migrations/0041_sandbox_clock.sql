-- The business time of a demo institution may be moved ahead, and never back: what was dated by it stays in the past.
alter table institutions
  add column clock_ahead_seconds bigint not null default 0
    check (clock_ahead_seconds between 0 and 315576000),
  add constraint institutions_clock check (clock_ahead_seconds = 0 or demo);
grant update (clock_ahead_seconds) on institutions to sharedraft_service;

create function check_sandbox_clock() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  if new.clock_ahead_seconds < old.clock_ahead_seconds then
    raise exception 'institution %: its clock goes forward only', old.code using errcode = 'SD030';
  end if;
  return new;
end
$$;
create trigger institutions_clock_moved before update of clock_ahead_seconds on institutions
  for each row execute function check_sandbox_clock();
