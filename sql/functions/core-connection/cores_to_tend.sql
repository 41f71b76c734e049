-- Institutions with an authorization whose time is over, with a break to open, or with an open one. One question for all institutions, from outside
-- their wall: it returns numbers of institutions only. Whether an open break is over takes longer, and is asked for one institution at a time.
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
    where i.served = 'here'
  loop
    perform set_config('sharedraft.institution', institution::text, true);
    if exists (select from public.core_authorizations a
               where a.institution_id = institution and a.ended is null and a.expires_at <= present)
       or has_core and exists (select from public.core_breaks_to_open(institution, present))
       or has_core and exists (select from public.core_breaks b where b.institution_id = institution and b.closed_at is null)
    then
      return next;
    end if;
  end loop;
end
$$;

revoke execute on function cores_to_tend(timestamptz) from public;
grant execute on function cores_to_tend(timestamptz) to sharedraft_service;
