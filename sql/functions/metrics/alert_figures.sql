-- The figures of alerts and of mail to members of all institutions, in one question. Like operational_figures it runs with the caller's
-- rights, and enters one institution after the other. Counts stop at 10,000 of an institution.
create or replace function alert_figures(
  at timestamptz,
  out lag_seconds double precision,
  out alerts_due integer,
  out mail_lag_seconds double precision,
  out mail_waiting integer,
  out mail_parked integer,
  out mail_suppressed integer)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  most constant integer := 10000;
  each record;
  own record;
  present timestamptz;
begin
  lag_seconds := 0;
  alerts_due := 0;
  mail_lag_seconds := 0;
  mail_waiting := 0;
  mail_parked := 0;
  mail_suppressed := 0;
  for each in select i.institution_id as id, i.clock_ahead_seconds as ahead from public.institutions i where i.served = 'here' loop
    perform set_config('sharedraft.institution', each.id::text, true);
    present := at + make_interval(secs => each.ahead);

    -- The first event that no process has evaluated.
    select o.recorded_at as oldest into own
    from (select) one
    left join public.alert_positions p on p.institution_id = each.id
    cross join lateral (
      select o.recorded_at from public.outbox o
      where o.institution_id = each.id
        and (o.epoch, o.xid, o.event_key) > (coalesce(p.epoch, 0), coalesce(p.xid, '0'), coalesce(p.event_key, 0))
      order by o.epoch, o.xid, o.event_key limit 1) o;
    lag_seconds := greatest(lag_seconds, extract(epoch from present - own.oldest));

    select count(*) as due into own
    from (select from public.alerts a
          where a.institution_id = each.id and a.released_at is null and a.due_at <= present limit most) a;
    alerts_due := alerts_due + own.due;

    select count(*) as suppressed into own
    from (select from public.mail_suppressions s where s.institution_id = each.id limit most) s;
    mail_suppressed := mail_suppressed + own.suppressed;

    select e.endpoint_id as id, e.status, least(ahead.recorded_at, behind.recorded_at) as oldest into own
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
    where e.institution_id = each.id and e.transport = 'SMTP';
    continue when own.id is null;
    if own.status = 'ACTIVE' then
      mail_lag_seconds := greatest(mail_lag_seconds, extract(epoch from present - own.oldest));
    end if;

    select count(*) filter (where d.state = 'WAITING') as waiting, count(*) filter (where d.state = 'PARKED') as parked into own
    from (
      select w.state from public.webhook_deliveries w
      where w.institution_id = each.id and w.endpoint_id = own.id limit most) d;
    mail_waiting := mail_waiting + own.waiting;
    mail_parked := mail_parked + own.parked;
  end loop;
end
$$;

revoke execute on function alert_figures(timestamptz) from public;
grant execute on function alert_figures(timestamptz) to sharedraft_service;
