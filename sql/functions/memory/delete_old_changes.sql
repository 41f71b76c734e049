-- Deletes the changes of transactions that had ended at the call before last: no process asks for them any more. A call within
-- `keep` of the previous one does nothing. A process that has asked nothing for so long forgets its answers.
-- Transaction numbers that this cluster has not assigned came with the data of another cluster.
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
