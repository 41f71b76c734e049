-- Closes a partition of events: the feed of each institution begins behind its last event there. The number of that event is kept as a mark,
-- from which later ones are counted; the marks before it go. Only the owner may call it, once nothing needs the events any more
-- (event_partition_needs).
create or replace function close_event_partition(of_first bigint) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  partition constant text := format('outbox_%s', of_first);
  institution integer;
  last record;
begin
  perform from public.event_partitions p
  where p.first_key = of_first and p.closed_at is null
    and not exists (select from public.event_partitions o where o.first_key < of_first and o.closed_at is null)
  for update;
  if not found then
    raise exception 'events: % is not the oldest partition that is open', partition using errcode = 'SD160';
  end if;
  for institution in select i.institution_id from public.institutions i order by i.institution_id loop
    perform set_config('sharedraft.institution', institution::text, true);
    execute format(
      'select o.epoch, o.xid, o.event_key from public.%I o where o.institution_id = $1
       order by o.epoch desc, o.xid desc, o.event_key desc limit 1', partition) into last using institution;
    continue when last.event_key is null or exists (
      select from public.event_horizons h
      where h.institution_id = institution and (h.epoch, h.xid, h.event_key) >= (last.epoch, last.xid, last.event_key));
    insert into public.event_horizons as h (institution_id, epoch, xid, event_key, number)
    values (institution, last.epoch, last.xid, last.event_key,
            event_number(institution, last.epoch, last.xid, last.event_key))
    on conflict (institution_id) do update
    set epoch = excluded.epoch, xid = excluded.xid, event_key = excluded.event_key, number = excluded.number;
    insert into public.event_marks (institution_id, number, epoch, xid, event_key)
    select h.institution_id, h.number, h.epoch, h.xid, h.event_key from public.event_horizons h
    where h.institution_id = institution
    on conflict do nothing;
    delete from public.event_marks m
    where m.institution_id = institution and (m.epoch, m.xid, m.event_key) < (last.epoch, last.xid, last.event_key);
  end loop;
  perform set_config('sharedraft.institution', '0', true);
  update public.event_partitions set closed_at = now(), closed_xid = pg_current_xact_id() where first_key = of_first;
end
$$;

revoke execute on function close_event_partition(bigint) from public;
