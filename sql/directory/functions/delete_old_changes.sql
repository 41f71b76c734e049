-- As in a cell's database (sql/functions/memory/delete_old_changes.sql).
create or replace function delete_old_changes(now timestamptz, keep interval) returns void
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
  kept public.directory_changes_kept;
begin
  select * into kept from public.directory_changes_kept k where k.moved_at <= now - keep or k.moved_at > now
  for update skip locked;
  if not found then
    return;
  end if;
  delete from public.directory_changes c
  where c.xid < kept.next_from or c.xid >= pg_snapshot_xmax(pg_current_snapshot());
  update public.directory_changes_kept
  set kept_from = kept.next_from, next_from = pg_snapshot_xmin(pg_current_snapshot()), moved_at = now;
end
$$;

revoke execute on function delete_old_changes(timestamptz, interval) from public;
grant execute on function delete_old_changes(timestamptz, interval) to sharedraft_service;
