-- The figures of all institutions for the metrics, in one question. It runs with the caller's rights, and enters one institution after
-- the other, so that row-level security holds. Counts stop at 10,000 of an institution. The setting lasts until the
-- end of the caller's transaction.
create or replace function operational_figures(
  at timestamptz,
  out institutions integer,
  out pending integer,
  out due integer,
  out overdue integer,
  out oldest_due_seconds double precision,
  out stopped integer,
  out reviews integer,
  out oldest_review_seconds double precision,
  out feed_lag_seconds double precision,
  out signing_key_age_seconds double precision,
  out reconcile_findings integer,
  out reconcile_age_seconds double precision)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  most constant integer := 10000;
  each record;
  own record;
  present timestamptz;
  lowest_running xid8 := pg_snapshot_xmin(pg_current_snapshot());
begin
  institutions := 0;
  pending := 0;
  due := 0;
  overdue := 0;
  oldest_due_seconds := 0;
  stopped := 0;
  reviews := 0;
  oldest_review_seconds := 0;
  feed_lag_seconds := 0;
  reconcile_findings := 0;
  for each in select i.institution_id as id, i.clock_ahead_seconds as ahead from public.institutions i where i.served = 'here' loop
    perform set_config('sharedraft.institution', each.id::text, true);
    institutions := institutions + 1;
    present := at + make_interval(secs => each.ahead);

    pending := pending + (
      select count(*) from (select from public.pending_transfers p where p.institution_id = each.id limit most) s);

    select count(*) filter (where not d.is_stopped) as due,
           count(*) filter (where not d.is_stopped and d.due_at < present - interval '1 minute') as overdue,
           count(*) filter (where d.is_stopped) as stopped,
           min(d.due_at) filter (where not d.is_stopped) as oldest
    into own
    from (
      select p.due_at,
             p.when_due = 'POST' and exists (
               select from public.transfers t
               join public.users u on u.institution_id = each.id and u.user_key = t.user_key
               where t.institution_id = each.id and t.transfer_key = p.transfer_key
                 and (u.locked_by_operator or not u.active)) as is_stopped
      from public.pending_transfers p
      where p.institution_id = each.id and p.due_at <= present
      order by p.due_at limit most) d;
    due := due + own.due;
    overdue := overdue + own.overdue;
    stopped := stopped + own.stopped;
    oldest_due_seconds := greatest(oldest_due_seconds, extract(epoch from present - own.oldest));

    select count(*) as reviews, min(t.created_at) as oldest
    into own
    from (
      select p.transfer_key from public.pending_transfers p
      where p.institution_id = each.id and p.held_for = 'REVIEW' limit most) r
    join public.transfers t on t.institution_id = each.id and t.transfer_key = r.transfer_key;
    reviews := reviews + own.reviews;
    oldest_review_seconds := greatest(oldest_review_seconds, extract(epoch from present - own.oldest));

    -- The feed returns events below the first running transaction of the institution (ADR 15).
    select min(o.recorded_at) as oldest
    into own
    from (
      select e.recorded_at from public.outbox e
      where e.institution_id = each.id
        and (e.epoch, e.xid) >= ((select coalesce(max(n.epoch), 0) from public.event_epochs n
                                  where n.institution_id = each.id), lowest_running)
        and e.xid >= (select first_running(each.id))
      order by e.epoch, e.xid, e.event_key limit most) o;
    feed_lag_seconds := greatest(feed_lag_seconds, extract(epoch from present - own.oldest));

    select r.findings, r.finished_at into own
    from public.reconcile_runs r where r.institution_id = each.id;
    if found then
      reconcile_findings := reconcile_findings + own.findings;
      reconcile_age_seconds := greatest(reconcile_age_seconds, extract(epoch from at - own.finished_at));
    end if;
  end loop;
  signing_key_age_seconds := (
    select extract(epoch from at - k.signs_from) from public.signing_keys k
    where k.signs_from <= at order by k.generation desc limit 1);
end
$$;

revoke execute on function operational_figures(timestamptz) from public;
grant execute on function operational_figures(timestamptz) to sharedraft_service;
