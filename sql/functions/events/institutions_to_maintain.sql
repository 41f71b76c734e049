-- Institutions with an audit entry to seal, an expired secret, or enough new events for a mark. One question for all institutions, from
-- outside their wall: it returns numbers of institutions only.
create or replace function institutions_to_maintain(at_time timestamptz, events_per_mark integer)
returns table (institution integer)
language plpgsql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
  ahead bigint;
  last record;
begin
  for institution, ahead in select i.institution_id, i.clock_ahead_seconds from public.institutions i where i.served = 'here' loop
    perform set_config('sharedraft.institution', institution::text, true);
    select m.epoch, m.xid, m.event_key into last from public.event_marks m
    where m.institution_id = institution order by m.number desc limit 1;
    if not found then
      select -1 as epoch, '0'::xid8 as xid, 0::bigint as event_key into last;
    end if;
    if exists (select from public.audit_entries e where e.institution_id = institution and e.chain_number is null)
       or exists (select from public.outbox o
                  where o.institution_id = institution and o.secret is not null
                    and o.secret_expires_at <= at_time + make_interval(secs => ahead))
       or exists (select from public.outbox o
                  where o.institution_id = institution
                    and (o.epoch, o.xid, o.event_key) > (last.epoch, last.xid, last.event_key)
                  order by o.epoch, o.xid, o.event_key offset events_per_mark - 1 limit 1)
    then
      return next;
    end if;
  end loop;
end
$$;

revoke execute on function institutions_to_maintain(timestamptz, integer) from public;
grant execute on function institutions_to_maintain(timestamptz, integer) to sharedraft_service;
