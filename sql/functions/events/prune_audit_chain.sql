-- Prunes a chain of the caller's institution up to a number, which needs a signed anchor. Only the owner may delete. The database's clock
-- protects younger entries: the service's role could pass any time. docs/audit.md has the periods.
create or replace function prune_audit_chain(of_chain text, up_to bigint) returns void
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
  institution constant integer := current_setting('sharedraft.institution');
  kept_days constant integer := greatest(
    case of_chain when 'access' then 90 else 1827 end,
    (select case of_chain when 'access' then r.access_days else r.changes_days end
     from public.audit_retention r where r.institution_id = institution));
  last record;
begin
  perform from public.audit_chains c where c.institution_id = institution and c.chain = of_chain for update;
  select e.chain_hash as hash into last
  from public.audit_entries e
  join public.audit_anchors a on a.institution_id = institution and a.chain = of_chain and a.number = up_to and a.hash = e.chain_hash
  where e.institution_id = institution and e.chain = of_chain and e.chain_number = up_to;
  if not found then
    raise exception 'audit: % of chain % has no anchor', up_to, of_chain using errcode = 'SD112';
  end if;
  if exists (
    select from public.audit_entries e
    where e.institution_id = institution and e.chain = of_chain and e.chain_number <= up_to
      and e.recorded_at >= now() - make_interval(days => kept_days)) then
    raise exception 'audit: an entry of the last % days stays', kept_days using errcode = 'SD112';
  end if;
  update public.audit_chains c set pruned_to = up_to, pruned_hash = last.hash
  where c.institution_id = institution and c.chain = of_chain and c.pruned_to < up_to;
end
$$;

revoke execute on function prune_audit_chain(text, bigint) from public;
grant execute on function prune_audit_chain(text, bigint) to sharedraft_service;
