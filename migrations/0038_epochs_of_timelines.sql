-- After a fail-over to an asynchronous standby, the last transactions of the old server are missing and their numbers are given
-- out again: a reader of the feed that had read further would skip what is written until then. So a new timeline begins a new
-- epoch by itself, before the first event is written on it. Each new connection of the service calls for that: it cannot
-- outlive the server that it was made to, and so not the timeline either.
create table event_timeline (
  only_row  boolean primary key default true check (only_row),
  timeline  text not null
);
comment on table event_timeline is
  'The cluster and its timeline on which events are written; another one begins a new epoch.';

-- Runs as the owner, who alone may lock.
create function begin_epochs_of_timeline(at timestamptz) returns boolean
language plpgsql security definer set search_path = pg_catalog, public, pg_temp
set lock_timeout = '9s' as $$
declare
  current text;
  known text;
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
  -- Whoever connects at the same time waits, and then finds it done.
  perform pg_advisory_xact_lock(7305103);
  known := (select t.timeline from public.event_timeline t);
  if known = current then
    return false;
  end if;
  if known is null then
    insert into public.event_timeline (timeline) values (current);
    return false;
  end if;
  update public.event_timeline set timeline = current;
  lock table public.outbox in share mode;
  for institution in select i.institution_id from public.institutions i loop
    perform set_config('sharedraft.institution', institution::text, true);
    last_of_all := greatest(last_of_all, (select o.xid from public.outbox o where o.institution_id = institution
                                          order by o.epoch desc, o.xid desc limit 1));
  end loop;
  -- A transaction may be lost though one with a higher number was not: it looks like one that was rolled back. Numbers of
  -- another cluster's, which this one has not given out yet, have no status.
  lost_from := (
    select min(x) from generate_series(greatest(last_of_all::text::numeric - 10000, 3),
                                       least(last_of_all::text::numeric,
                                             pg_snapshot_xmin(pg_current_snapshot())::text::numeric - 1)) x
    where pg_xact_status(x::text::xid8) = 'aborted');
  for institution in select i.institution_id from public.institutions i loop
    perform set_config('sharedraft.institution', institution::text, true);
    insert into public.event_epochs (institution_id, epoch, started_at, last_before)
    select institution,
           1 + greatest(newest.epoch, (select coalesce(max(e.epoch), 0) from public.event_epochs e
                                       where e.institution_id = institution)),
           at, case when lost_from <= newest.xid::text::numeric then (lost_from - 1)::text::xid8 else newest.xid end
    from (select o.epoch, o.xid from public.outbox o where o.institution_id = institution
          order by o.epoch desc, o.xid desc limit 1) newest;
  end loop;
  return true;
end
$$;
revoke execute on function begin_epochs_of_timeline from public;
grant execute on function begin_epochs_of_timeline to sharedraft_service;
