-- Endpoints of all institutions that have something to send: a new event, or a delivery whose time has come. One question for all
-- institutions, from outside their wall: it returns ids only.
create or replace function webhooks_to_send(at_time timestamptz, most integer)
returns table (institution integer, endpoint uuid)
language plpgsql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
  for institution in select i.institution_id from public.institutions i where i.served = 'here' loop
    perform set_config('sharedraft.institution', institution::text, true);
    for endpoint in
      select e.endpoint_id
      from webhook_endpoints e
      where e.institution_id = institution and e.status = 'ACTIVE'
        and (e.lease_until is null or e.lease_until <= at_time)
        and (e.next_attempt_at is null or e.next_attempt_at <= at_time)
        -- The first event is ordered, so that the index is read: "exists" expects a match soon and may read the table.
        and ((select true from outbox o
              where o.institution_id = institution
                and (o.epoch, o.xid, o.event_key) > (e.epoch, e.xid, e.event_key)
              order by o.epoch, o.xid, o.event_key limit 1)
             or exists (
               select from webhook_deliveries d
               where d.institution_id = institution and d.endpoint_id = e.endpoint_id and d.state = 'WAITING'
                 and (d.next_attempt_at is null or d.next_attempt_at <= at_time)))
      limit most
    loop
      return next;
    end loop;
  end loop;
end
$$;

revoke execute on function webhooks_to_send(timestamptz, integer) from public;
grant execute on function webhooks_to_send(timestamptz, integer) to sharedraft_service;
