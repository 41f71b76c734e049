-- Apps of all institutions that have yet to hear of the end of a session. Like operational_figures it runs with the caller's rights, and
-- enters one institution after the other. Counts stop at 10,000 of an institution.
create or replace function logout_figures(out waiting integer)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  most constant integer := 10000;
  each record;
  own integer;
begin
  waiting := 0;
  for each in select i.institution_id as id from public.institutions i where i.served = 'here' loop
    perform set_config('sharedraft.institution', each.id::text, true);
    select count(*) into own
    from (select from public.logout_notices n where n.institution_id = each.id limit most) counted;
    waiting := waiting + own;
  end loop;
end
$$;

revoke execute on function logout_figures() from public;
grant execute on function logout_figures() to sharedraft_service;
