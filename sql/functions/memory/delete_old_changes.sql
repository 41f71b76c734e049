-- Deletes the changes that no process asks for any more: those of transactions that had ended at the call before last. Calls
-- within `keep` of each other do nothing. A process that has asked nothing for so long forgets its answers instead.
-- Numbers that this cluster has not given out came with the data of another one.
create or replace function delete_old_changes(now timestamptz, keep interval) returns void
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
  kept public.changes_kept;
begin
  select * into kept from public.changes_kept k where k.moved_at <= now - keep or k.moved_at > now
  for update skip locked;
  if not found then
    return;
  end if;
  delete from public.changes c
  where c.xid < kept.next_from or c.xid >= pg_snapshot_xmax(pg_current_snapshot());
  update public.changes_kept set kept_from = kept.next_from, next_from = pg_snapshot_xmin(pg_current_snapshot()), moved_at = now;
end
$$;

revoke execute on function delete_old_changes(timestamptz, interval) from public;
grant execute on function delete_old_changes(timestamptz, interval) to sharedraft_service;
