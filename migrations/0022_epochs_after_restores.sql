-- After the database was put back to an earlier state in the same cluster, transaction numbers come a second time: a reader
-- that had read further would pass over what is written until they have caught up, and two events would have one id.
-- So the operator says that it was put back: an epoch begins, and it is known how far the one before it went.
alter table event_epochs
  add column last_before xid8;
comment on column event_epochs.last_before is
  'The last transaction of the epoch before, as it stood when this one began; a position behind it is of what was undone. Null: nothing of it was undone.';

-- Runs as the owner, who alone may lock. Whoever writes an event has read which epoch it is of: those are waited for, so that
-- none of the old epoch comes after the first of the new one.
create function begin_event_epoch(at timestamptz) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp
set lock_timeout = '9s' as $$
declare
  institution constant integer := current_setting('sharedraft.institution');
  newest constant integer := (
    select coalesce(max(e.epoch), 0) from public.event_epochs e where e.institution_id = institution);
begin
  lock table public.outbox in share mode;
  insert into public.event_epochs (institution_id, epoch, started_at, last_before)
  select institution, newest + 1, at, coalesce(
    (select o.xid from public.outbox o where o.institution_id = institution and o.epoch = newest
     order by o.xid desc limit 1), '0');
end
$$;
revoke execute on function begin_event_epoch from public;
grant execute on function begin_event_epoch to sharedraft_service;
