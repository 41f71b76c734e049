-- At commit, the entries and the transfers of a transaction must amount to the same (ADR 3).
create or replace function check_control_total() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
  final numeric;
begin
  delete from control_totals where transaction = new.transaction returning total into final;
  if final <> 0 then
    raise exception 'ledger: the entries and the transfers of this transaction differ' using errcode = 'SD017';
  end if;
  return null;
end
$$;

revoke execute on function check_control_total() from public;
