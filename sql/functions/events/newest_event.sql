-- Epoch and transaction of an institution's newest event, which may be in the archive; no row without any. The caller sees one institution only.
create or replace function newest_event(institution integer) returns table (epoch integer, xid xid8)
language sql stable
set search_path = pg_catalog, public, pg_temp
as $$
  select n.epoch, n.xid
  from (
    (select o.epoch, o.xid from outbox o where o.institution_id = institution
     order by o.epoch desc, o.xid desc, o.event_key desc limit 1)
    union all
    select h.epoch, h.xid from event_horizons h where h.institution_id = institution
  ) n
  order by n.epoch desc, n.xid desc limit 1
$$;
