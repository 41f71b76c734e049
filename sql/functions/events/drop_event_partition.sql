-- Drops a closed partition whose events stand in a file of the archive, and keeps per account which entries they told of. Returns false while a
-- transaction from before the closing runs, which may still read them. Only the owner may call it.
create or replace function drop_event_partition(of_first bigint, file_digest bytea) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  partition constant text := format('outbox_%s', of_first);
  closed record;
  institution integer;
  here bigint;
  events bigint := 0;
begin
  select p.closed_xid, p.events into closed from public.event_partitions p
  where p.first_key = of_first and p.digest = file_digest and p.dropped_at is null for update;
  if not found then
    raise exception 'events: % is not in this file', partition using errcode = 'SD161';
  end if;
  if pg_snapshot_xmin(pg_current_snapshot()) <= closed.closed_xid then
    return false;
  end if;
  -- No one writes to it from here on; readers of all events go on until it is detached.
  execute format('lock table public.%I in share row exclusive mode', partition);
  for institution in select i.institution_id from public.institutions i order by i.institution_id loop
    perform set_config('sharedraft.institution', institution::text, true);
    execute format('select count(*) from public.%I o where o.institution_id = $1', partition) into here using institution;
    events := events + here;
    continue when here = 0;
    execute format(
      'insert into public.event_archived_entries as a (institution_id, account_key, entries, seq_sum, last_seq)
       select $1, s.account_key, count(*), sum(s.seq), max(s.seq)
       from public.%I o
       cross join lateral (values (o.from_key, o.from_seq), (o.to_key, o.to_seq)) as s (account_key, seq)
       where o.institution_id = $1 and o.kind like ''transfer.%%'' and s.seq is not null
       group by s.account_key
       on conflict (institution_id, account_key) do update
       set entries = a.entries + excluded.entries, seq_sum = a.seq_sum + excluded.seq_sum,
           last_seq = greatest(a.last_seq, excluded.last_seq)', partition) using institution;
  end loop;
  perform set_config('sharedraft.institution', '0', true);
  if events <> closed.events then
    raise exception 'events: % has % events, and the file %', partition, events, closed.events using errcode = 'SD161';
  end if;
  execute format('alter table public.outbox detach partition public.%I', partition);
  execute format('drop table public.%I', partition);
  update public.event_partitions set dropped_at = now() where first_key = of_first;
  return true;
end
$$;

revoke execute on function drop_event_partition(bigint, bytea) from public;
