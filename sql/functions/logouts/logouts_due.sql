-- Institutions with an app that is to hear of the end of a session. One question for all institutions, from outside their wall: it
-- returns numbers of institutions only.
create or replace function logouts_due(at_time timestamptz)
returns table (institution integer)
language plpgsql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
  for institution in select i.institution_id from public.institutions i where i.served = 'here' loop
    perform set_config('sharedraft.institution', institution::text, true);
    if exists (select from logout_notices n where n.institution_id = institution and n.due_at <= at_time) then
      return next;
    end if;
  end loop;
end
$$;

revoke execute on function logouts_due(timestamptz) from public;
grant execute on function logouts_due(timestamptz) to sharedraft_service;
