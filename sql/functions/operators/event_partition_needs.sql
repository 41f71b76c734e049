-- The reasons for which the events of a partition must stay, with the institution, and the id of an endpoint where there is one. Only the
-- owner may call it.
create or replace function event_partition_needs(of_first bigint, kept_days integer)
returns table (institution integer, need text, endpoint uuid)
language plpgsql stable
set search_path = pg_catalog, public, pg_temp
as $$
declare
  partition constant text := format('outbox_%s', of_first);
  bounds record;
  each record;
  last record;
  newest timestamptz;
begin
  select p.first_key, p.end_key into strict bounds from public.event_partitions p where p.first_key = of_first;
  institution := 0;
  if coalesce(pg_sequence_last_value('public.outbox_event_key_seq'), 0) < bounds.end_key then
    need := 'full';
    return next;
    return;
  end if;
  for each in select i.institution_id as id, i.served, i.clock_ahead_seconds as ahead from public.institutions i order by 1 loop
    perform set_config('sharedraft.institution', each.id::text, true);
    institution := each.id;
    endpoint := null;
    execute format(
      'select o.epoch, o.xid, o.event_key from public.%I o where o.institution_id = $1
       order by o.epoch desc, o.xid desc, o.event_key desc limit 1', partition) into last using each.id;
    continue when last.event_key is null;
    if each.served <> 'here' then
      need := 'served';
      return next;
      continue;
    end if;
    -- The age reads every event, so a caller that locks has asked before, and leaves it out.
    if kept_days is not null then
      execute format('select max(o.recorded_at) from public.%I o where o.institution_id = $1', partition) into newest using each.id;
    end if;
    if newest - make_interval(secs => each.ahead) >= now() - make_interval(days => kept_days) then
      need := 'young';
      return next;
      continue;
    end if;
    execute format('select ''secret'' from public.%I o where o.institution_id = $1 and o.secret is not null limit 1', partition)
    into need using each.id;
    if need is not null then
      return next;
    end if;
    need := 'webhook';
    for endpoint in
      select e.endpoint_id from public.webhook_endpoints e
      where e.institution_id = each.id and (e.epoch, e.xid, e.event_key) < (last.epoch, last.xid, last.event_key)
      order by e.endpoint_id
    loop
      return next;
    end loop;
    need := 'delivery';
    for endpoint in
      execute format(
        'select distinct d.endpoint_id from public.webhook_deliveries d
         join public.%I o on o.institution_id = $1 and o.event_key = d.event_key
         where d.institution_id = $1 order by 1', partition) using each.id
    loop
      return next;
    end loop;
    endpoint := null;
    if not exists (
      select from public.alert_positions p
      where p.institution_id = each.id and (p.epoch, p.xid, p.event_key) >= (last.epoch, last.xid, last.event_key))
    then
      need := 'alerts';
      return next;
    end if;
    if not exists (
      select from public.reconcile_runs r
      where r.institution_id = each.id and (r.checkpoint_epoch, r.checkpoint_xid) > (last.epoch, last.xid))
    then
      need := 'reconcile';
      return next;
    end if;
  end loop;
  perform set_config('sharedraft.institution', '0', true);
end
$$;

revoke execute on function event_partition_needs(bigint, integer) from public;
