-- Begins a new epoch on a new timeline of the cluster, and returns whether it did. After a fail-over to an asynchronous standby, the
-- server gives out the lost transactions' numbers again: a reader that had read further would miss new events. Each new
-- connection calls this function. It runs as the owner, who alone may lock.
create or replace function begin_epochs_of_timeline(at timestamptz) returns boolean
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
set lock_timeout = '9s'
as $$
declare
  current text;
  known text;
  first_known xid8;
  institution integer;
  last_of_all xid8;
  lost_from numeric;
begin
  if pg_is_in_recovery() then
    raise exception 'the server is a standby' using errcode = 'read_only_sql_transaction';
  end if;
  current := (select format('%s/%s', c.system_identifier, left(pg_walfile_name(pg_current_wal_lsn()), 8))
              from pg_control_system() c);
  known := (select t.timeline from public.event_timeline t);
  if known = current then
    return false;
  end if;
  -- A connection made at the same time waits, and then reads the new timeline.
  perform pg_advisory_xact_lock(7305103);
  select t.timeline, t.first_transaction into known, first_known from public.event_timeline t;
  if known = current then
    return false;
  end if;
  if known is null then
    insert into public.event_timeline (timeline, first_transaction) values (current, pg_current_xact_id());
    return false;
  end if;
  -- Another cluster has other numbers.
  if split_part(known, '/', 1) <> split_part(current, '/', 1) then
    first_known := '3';
  end if;
  update public.event_timeline set timeline = current, first_transaction = pg_current_xact_id();
  lock table public.outbox in share mode;
  -- Events of an earlier epoch may be of another cluster: of a restore, or of the cell that an institution came from.
  for institution in select i.institution_id from public.institutions i where i.served = 'here' loop
    perform set_config('sharedraft.institution', institution::text, true);
    last_of_all := greatest(last_of_all, (
      select n.xid from newest_event(institution) n where n.epoch = (
        select coalesce(max(e.epoch), 0) from public.event_epochs e where e.institution_id = institution)));
  end loop;
  -- A lost transaction has the status of one that was rolled back, even if a transaction with a higher number was kept. Only those of
  -- the timeline that has ended can be lost; each of the service comes after its first one, which was here. Numbers from another
  -- cluster's data that this cluster has not assigned yet have no status.
  lost_from := (
    select min(x) from generate_series(greatest(last_of_all::text::numeric - 10000, first_known::text::numeric),
                                       least(last_of_all::text::numeric,
                                             pg_snapshot_xmin(pg_current_snapshot())::text::numeric - 1)) x
    where pg_xact_status(x::text::xid8) = 'aborted');
  for institution in select i.institution_id from public.institutions i where i.served = 'here' loop
    perform set_config('sharedraft.institution', institution::text, true);
    insert into public.event_epochs (institution_id, epoch, started_at, last_before)
    select institution, 1 + greatest(newest.epoch, present.epoch), at,
           case when newest.epoch < present.epoch then '0'::xid8
                when lost_from <= newest.xid::text::numeric then (lost_from - 1)::text::xid8
                else newest.xid end
    from newest_event(institution) newest,
         (select coalesce(max(e.epoch), 0) as epoch from public.event_epochs e where e.institution_id = institution) present;
  end loop;
  return true;
end
$$;

revoke execute on function begin_epochs_of_timeline(timestamptz) from public;
grant execute on function begin_epochs_of_timeline(timestamptz) to sharedraft_service;
