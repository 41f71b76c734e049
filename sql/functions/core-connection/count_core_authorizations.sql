-- A new authorization orders the entries of its hold.
create or replace function count_core_authorizations() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
  perform add_to_control_total(-sum(
    control_number('CORE_HOLD', a.posting_key, a.account_key, -a.held)::numeric
    + control_number('CORE_HOLD', a.posting_key, a.settlement_key, a.held)))
  from written a where a.held > 0;
  return null;
end
$$;

revoke execute on function count_core_authorizations() from public;
