-- The number of the newest event at or before a position of the feed; 0 before the first one. The caller sees one institution only.
-- "offset 0" keeps coalesce out of the comparison: with it, row-level security would have each event read and filtered.
create or replace function event_number(institution integer, at_epoch bigint, at_xid xid8, at_key bigint) returns bigint
language sql stable
set search_path = pg_catalog, public, pg_temp
as $$
  select mark.number + (
    select count(*) from outbox o
    where o.institution_id = institution and (o.epoch, o.xid, o.event_key) > (mark.epoch, mark.xid, mark.event_key)
      and (o.epoch, o.xid, o.event_key) <= (at_epoch, at_xid, at_key))
  from (
    select coalesce(m.number, 0) as number, coalesce(m.epoch, -1) as epoch, coalesce(m.xid, '0') as xid,
           coalesce(m.event_key, 0) as event_key
    from (select) one
    left join lateral (
      select m.number, m.epoch, m.xid, m.event_key from event_marks m
      where m.institution_id = institution and (m.epoch, m.xid, m.event_key) <= (at_epoch, at_xid, at_key)
      order by m.epoch desc, m.xid desc, m.event_key desc limit 1
    ) m on true
    offset 0
  ) mark
$$;
