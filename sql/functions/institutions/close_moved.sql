-- Lets go of an institution of which the directory knows a later move than this database, which therefore was restored to a moment before
-- it. Returns whether it did. The service's login calls it, and can let go in no other way.
create or replace function close_moved(institution integer, to_cell text, known_moves integer) returns boolean
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update public.institutions i set served = 'leaving', other_cell = to_cell
  where i.institution_id = institution and i.served = 'here' and i.moves < known_moves;
  update public.institutions i set served = 'left', other_cell = to_cell
  where i.institution_id = institution and i.served = 'leaving' and i.moves < known_moves;
  return found;
end
$$;

revoke execute on function close_moved(integer, text, integer) from public;
grant execute on function close_moved(integer, text, integer) to sharedraft_service;
