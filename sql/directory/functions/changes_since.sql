-- The question of src/memory, as in a cell's database (sql/functions/memory/changes_since.sql). The directory has one thing, which is
-- the whole of it: number 0 of institution 0. It has no balances.
create or replace function changes_since(
  since pg_snapshot, institutions integer[], known_to integer[], account_keys bigint[], seqs bigint[],
  out at pg_snapshot, out is_kept boolean, out changed bigint[], out moved integer[])
language plpgsql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
  -- A transaction was invisible if it had not begun, or was still running.
  next_xid xid8 := pg_snapshot_xmax(since);
  running xid8[] := array(select pg_snapshot_xip(since));
begin
  at := pg_current_snapshot();
  is_kept := coalesce((select k.kept_from <= pg_snapshot_xmin(since) from public.directory_changes_kept k), false);
  if is_kept and exists (select from public.directory_changes c where c.xid >= next_xid or c.xid = any (running)) then
    changed := array[0];
  end if;
end
$$;

revoke execute on function changes_since(pg_snapshot, integer[], integer[], bigint[], bigint[]) from public;
grant execute on function changes_since(pg_snapshot, integer[], integer[], bigint[], bigint[]) to sharedraft_service;
