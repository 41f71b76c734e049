-- Makes the partitions of outbox that are missing ahead, and returns their number. A partition takes the events of about a month, by the
-- pace of the newest partition that is older than a day, and a million at least. Two of them are ahead of the last event, so that
-- a clock that is wrong, or a year without maintenance, loses no event: keys follow each other, and the rest goes to outbox_default.
-- It runs as the owner, who alone may create tables.
create or replace function make_event_partitions() returns integer
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
set lock_timeout = '1s'
as $$
declare
  fewest constant bigint := 1000000;
  most constant bigint := 1000000000;
  last constant bigint := coalesce(pg_sequence_last_value('public.outbox_event_key_seq'), 0);
  made integer := 0;
  width bigint;
  first bigint;
  partition text;
  reader text;
begin
  -- Another process makes them.
  if not pg_try_advisory_xact_lock(7305105) then
    return 0;
  end if;
  width := coalesce((
    select greatest(fewest, least(most, (last - p.last_key) * 30 / extract(epoch from (now() - p.made_at) / 86400)))
    from public.event_partitions p where p.made_at <= now() - interval '1 day'
    order by p.made_at desc limit 1), fewest);
  loop
    first := (select max(p.end_key) from public.event_partitions p);
    exit when first > last + 2 * width;
    -- Events stand in the default partition, or are about to: the next partition begins behind them.
    if first <= last or pg_relation_size('public.outbox_default') > 0 then
      first := greatest(first, last + fewest);
    end if;
    partition := format('outbox_%s', first);
    execute format('create table public.%I (like public.outbox including all excluding identity excluding indexes)', partition);
    execute format('comment on table public.%I is %L', partition, format('A partition of outbox: events from %s on.', first));
    perform bind_to_institution(partition::regclass);
    for reader in
      select r.rolname from pg_policy p join pg_roles r on r.oid = any (p.polroles)
      where p.polrelid = 'public.outbox'::regclass and p.polname = 'backup'
    loop
      execute format('create policy backup on public.%I for select to %I using (true)', partition, reader);
      execute format('grant select on public.%I to %I', partition, reader);
    end loop;
    -- Locks the default partition, which is empty, and no reader or writer of the others.
    execute format('alter table public.outbox attach partition public.%I for values from (%s) to (%s)',
                   partition, first, first + width);
    insert into public.event_partitions (first_key, end_key, made_at, last_key) values (first, first + width, now(), last);
    made := made + 1;
  end loop;
  return made;
end
$$;

revoke execute on function make_event_partitions() from public;
grant execute on function make_event_partitions() to sharedraft_service;
