-- Institutions with an authorization whose time is over, or with a break to open or to close. One question for all institutions, from outside their
-- wall: it returns numbers of institutions only.
create or replace function cores_to_tend(at_time timestamptz)
returns table (institution integer)
language plpgsql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
  present timestamptz;
  has_core boolean;
begin
  for institution, present, has_core in
    select i.institution_id, at_time + make_interval(secs => i.clock_ahead_seconds), i.record = 'core'
    from public.institutions i
  loop
    perform set_config('sharedraft.institution', institution::text, true);
    if exists (select from public.core_authorizations a
               where a.institution_id = institution and a.ended is null and a.expires_at <= present)
       or has_core and exists (select from public.core_breaks_to_open(institution, present))
       or has_core and exists (select from public.core_breaks_to_close(institution))
    then
      return next;
    end if;
  end loop;
end
$$;

revoke execute on function cores_to_tend(timestamptz) from public;
grant execute on function cores_to_tend(timestamptz) to sharedraft_service;
