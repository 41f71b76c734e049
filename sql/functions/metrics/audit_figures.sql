-- The age of the oldest audit entry that is not sealed, of all institutions and of the service as a whole. Like operational_figures it
-- runs with the caller's rights, and enters one institution after the other.
create or replace function audit_figures(at timestamptz, out seal_lag_seconds double precision)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  institution integer;
begin
  seal_lag_seconds := 0;
  for institution in select 0 union all select i.institution_id from public.institutions i where i.served = 'here' loop
    perform set_config('sharedraft.institution', institution::text, true);
    seal_lag_seconds := greatest(seal_lag_seconds, (
      select extract(epoch from at - e.recorded_at) from public.audit_entries e
      where e.institution_id = institution and e.chain_number is null order by e.audit_key limit 1));
  end loop;
end
$$;

revoke execute on function audit_figures(timestamptz) from public;
grant execute on function audit_figures(timestamptz) to sharedraft_service;
