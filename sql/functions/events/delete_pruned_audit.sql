-- Deletes entries that were pruned from their chain, of the caller's institution, and returns their number.
create or replace function delete_pruned_audit(most integer) returns bigint
language sql security definer
set search_path = pg_catalog, public, pg_temp
as $$
  with gone as (
    delete from public.audit_entries e
    using (
      select o.audit_key
      from public.audit_chains c
      cross join lateral (
        select e.audit_key from public.audit_entries e
        where e.institution_id = c.institution_id and e.chain = c.chain and e.chain_number is not null
          and e.chain_number <= c.pruned_to
        order by e.chain_number limit most) o
      where c.institution_id = current_setting('sharedraft.institution')::integer) old
    where e.institution_id = current_setting('sharedraft.institution')::integer and e.audit_key = old.audit_key
    returning 1)
  select count(*) from gone
$$;

revoke execute on function delete_pruned_audit(integer) from public;
grant execute on function delete_pruned_audit(integer) to sharedraft_service;
