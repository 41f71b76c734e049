-- Begins a new epoch after a restore. It runs as the owner, who alone may lock. The lock waits for writers that have read the old
-- epoch, so that no event of it comes after the first of the new one.
create or replace function begin_event_epoch(at timestamptz) returns void
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
set lock_timeout = '9s'
as $$
declare
  institution constant integer := current_setting('sharedraft.institution');
  newest constant integer := (
    select coalesce(max(e.epoch), 0) from public.event_epochs e where e.institution_id = institution);
begin
  lock table public.outbox in share mode;
  insert into public.event_epochs (institution_id, epoch, started_at, last_before)
  select institution, newest + 1, at, coalesce(
    (select n.xid from newest_event(institution) n where n.epoch = newest), '0');
end
$$;

revoke execute on function begin_event_epoch(timestamptz) from public;
grant execute on function begin_event_epoch(timestamptz) to sharedraft_service;
