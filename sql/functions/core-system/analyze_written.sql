-- Gives the tables that an import writes statistics, once their first rows stand in them. The stage has its own since it was read.
create or replace function analyze_written() returns void
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
  analyze (skip_locked) public.persons, public.customers, public.customer_persons, public.accounts, public.balances,
    public.loans, public.holders, public.entries;
end
$$;

revoke execute on function analyze_written() from public;
grant execute on function analyze_written() to sharedraft_service;
