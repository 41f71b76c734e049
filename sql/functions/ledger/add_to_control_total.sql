-- Adds to this transaction's row of control_totals. Only triggers call it.
create or replace function add_to_control_total(change numeric) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  -- No transfer orders openings and adjustments.
  if change is null then
    return;
  end if;
  update control_totals set total = total + change where transaction = pg_current_xact_id();
  if not found then
    insert into control_totals values (pg_current_xact_id(), change);
  end if;
end
$$;

revoke execute on function add_to_control_total(numeric) from public;
