-- The figures of webhooks of all institutions, in one question; mail to members has alert_figures. Like operational_figures it runs with the caller's rights, and enters one
-- institution after the other. Counts stop at 10,000 of an institution.
create or replace function webhook_figures(
  at timestamptz,
  out active integer,
  out failing integer,
  out paused integer,
  out disabled integer,
  out waiting integer,
  out parked integer,
  out lag_seconds double precision)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  most constant integer := 10000;
  each record;
  own record;
  present timestamptz;
begin
  active := 0;
  failing := 0;
  paused := 0;
  disabled := 0;
  waiting := 0;
  parked := 0;
  lag_seconds := 0;
  for each in select i.institution_id as id, i.clock_ahead_seconds as ahead from public.institutions i where i.served = 'here' loop
    perform set_config('sharedraft.institution', each.id::text, true);
    present := at + make_interval(secs => each.ahead);

    select count(*) filter (where e.status = 'ACTIVE' and e.failures = 0) as active,
           count(*) filter (where e.status = 'ACTIVE' and e.failures > 0) as failing,
           count(*) filter (where e.status = 'PAUSED') as paused,
           count(*) filter (where e.status = 'DISABLED') as disabled
    into own
    from public.webhook_endpoints e where e.institution_id = each.id and e.transport = 'HTTPS';
    active := active + own.active;
    failing := failing + own.failing;
    paused := paused + own.paused;
    disabled := disabled + own.disabled;
    continue when own.active + own.failing + own.paused + own.disabled = 0;

    select count(*) filter (where d.state = 'WAITING') as waiting, count(*) filter (where d.state = 'PARKED') as parked
    into own
    from (
      select w.state
      from public.webhook_deliveries w
      join public.webhook_endpoints e on e.institution_id = each.id and e.endpoint_id = w.endpoint_id and e.transport = 'HTTPS'
      where w.institution_id = each.id limit most) d;
    waiting := waiting + own.waiting;
    parked := parked + own.parked;

    -- Of each active endpoint: the first event ahead of its position, or the first that waits behind it.
    select min(least(ahead.recorded_at, behind.recorded_at)) as oldest
    into own
    from public.webhook_endpoints e
    left join lateral (
      select o.recorded_at from public.outbox o
      where o.institution_id = each.id and (o.epoch, o.xid, o.event_key) > (e.epoch, e.xid, e.event_key)
      order by o.epoch, o.xid, o.event_key limit 1) ahead on true
    left join lateral (
      select o.recorded_at
      from public.webhook_deliveries d
      join public.outbox o on o.institution_id = each.id and o.event_key = d.event_key
      where d.institution_id = each.id and d.endpoint_id = e.endpoint_id and d.state = 'WAITING'
      order by d.number limit 1) behind on true
    where e.institution_id = each.id and e.status = 'ACTIVE' and e.transport = 'HTTPS';
    lag_seconds := greatest(lag_seconds, extract(epoch from present - own.oldest));
  end loop;
end
$$;

revoke execute on function webhook_figures(timestamptz) from public;
grant execute on function webhook_figures(timestamptz) to sharedraft_service;
