-- A closed break is history: a difference that comes back is a new one.
create or replace function refuse_change_of_closed_break() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  raise exception 'core_breaks: a closed break never changes' using errcode = 'SD080';
end
$$;
