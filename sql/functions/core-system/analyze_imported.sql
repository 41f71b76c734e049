-- Gives new tables statistics; without them, a look-up by key is planned as a scan of the institution. Autovacuum comes after a
-- minute, and only an owner may analyze. A table that another session analyzes is skipped.
create or replace function analyze_imported() returns void
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
  analyze (skip_locked) public.staged_persons, public.staged_members, public.staged_member_persons, public.staged_accounts,
    public.staged_holders, public.persons, public.customers, public.customer_persons, public.accounts, public.balances,
    public.loans, public.holders, public.entries;
end
$$;

revoke execute on function analyze_imported() from public;
grant execute on function analyze_imported() to sharedraft_service;
