-- Deletes old audit entries of the caller's institution and returns their number. Only the owner may delete. The database's clock
-- protects the last 90 days: the service's role could pass any time.
create or replace function expire_audit_entries(before timestamptz, most integer) returns bigint
language sql security definer
set search_path = pg_catalog, public, pg_temp
as $$
  with gone as (
    delete from public.audit_entries e
    where e.institution_id = current_setting('sharedraft.institution')::integer
      and e.audit_key = any (array(
        select o.audit_key from public.audit_entries o
        where o.institution_id = current_setting('sharedraft.institution')::integer
          and o.recorded_at < least(before, now() - interval '90 days')
        order by o.recorded_at limit most))
    returning 1)
  select count(*) from gone
$$;

revoke execute on function expire_audit_entries(timestamptz, integer) from public;
grant execute on function expire_audit_entries(timestamptz, integer) to sharedraft_service;
