-- The first running transaction that may write events of the institution: each event below it is visible. One that writes events of
-- another institution only (write_events_of) does not count, and neither does one of another database of the cluster. Locks are read in one
-- look, behind the snapshot: a transaction that ended in between counts. A standby does not know the single transactions.
create or replace function first_running(institution integer) returns xid8
language sql stable
set search_path = pg_catalog, public, pg_temp
as $$
  with held as materialized (
    select l.locktype, l.virtualtransaction, l.transactionid, l.mode,
           l.classid = 7305109 and l.objsubid = 2
             and (l.objid::bigint <> institution or d.datname <> current_database()) as is_elsewhere
    from pg_locks l left join pg_database d on d.oid = l.database
    where l.locktype in ('advisory', 'transactionid') and l.granted
  ), elsewhere as (
    select own.transactionid
    from held mark
    join held own on own.virtualtransaction = mark.virtualtransaction and own.locktype = 'transactionid' and own.mode = 'ExclusiveLock'
    where mark.locktype = 'advisory' and mark.is_elsewhere
  )
  select case
    when pg_is_in_recovery() then pg_snapshot_xmin(pg_current_snapshot())
    else coalesce(
      (select min(x) from pg_snapshot_xip(pg_current_snapshot()) x
       where not exists (select from elsewhere e where e.transactionid::text::bigint = x::text::bigint % 4294967296)),
      pg_snapshot_xmax(pg_current_snapshot()))
  end
$$;
