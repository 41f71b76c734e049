-- Institutions with an event behind the position of their alerts that no other process derives, with a day on which payments due are not looked up yet, or
-- with an alert whose time has come. One question for all
-- institutions, from outside their wall: it returns numbers of institutions only.
create or replace function alerts_to_derive(at_time timestamptz, asker uuid)
returns table (institution integer)
language plpgsql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
  for institution in select i.institution_id from public.institutions i where i.served = 'here' loop
    perform set_config('sharedraft.institution', institution::text, true);
    if exists (select from alerts a
               where a.institution_id = institution and a.released_at is null and a.due_at <= at_time)
       or exists (
         select from (select) one
         left join alert_positions p on p.institution_id = institution
         where (p.lease_until is null or p.lease_until <= at_time or p.leased_by = asker)
           and (exists (
             select from institutions i
             where i.institution_id = institution
               and (at_time at time zone i.time_zone)::time >= '09:00'
               and (at_time at time zone i.time_zone)::date > coalesce(p.dues_seen_on, '-infinity')
               and exists (select from alert_rules r
                           where r.institution_id = institution and r.alert_type = 'PAYMENT_DUE'))
             -- Ordered, so that the index is read: "exists" expects a match soon and reads the table.
             or (
             select true from outbox o
             where o.institution_id = institution
               and (o.epoch, o.xid, o.event_key) > (coalesce(p.epoch, 0), coalesce(p.xid, '0'), coalesce(p.event_key, 0))
             order by o.epoch, o.xid, o.event_key limit 1)))
    then
      return next;
    end if;
  end loop;
end
$$;

revoke execute on function alerts_to_derive(timestamptz, uuid) from public;
grant execute on function alerts_to_derive(timestamptz, uuid) to sharedraft_service;
