-- The keys of events that partitions are made for ahead of the last event, and the size of the default partition: 0 unless the
-- partitions ahead were used up.
create or replace function event_partition_figures(out keys_ahead bigint, out default_bytes bigint)
language sql stable
set search_path = pg_catalog, public, pg_temp
as $$
  select greatest(0, (select max(p.end_key) from public.event_partitions p)
                     - 1 - coalesce(pg_sequence_last_value('public.outbox_event_key_seq'), 0)),
         pg_relation_size('public.outbox_default')
$$;

revoke execute on function event_partition_figures() from public;
grant execute on function event_partition_figures() to sharedraft_service;
