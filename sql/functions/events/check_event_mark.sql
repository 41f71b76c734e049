-- A mark has the number of its event, counted from the mark before it, and no earlier transaction still runs.
create or replace function check_event_mark() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if new.number <> event_number(new.institution_id, new.epoch, new.xid, new.event_key)
     or new.xid >= pg_snapshot_xmin(pg_current_snapshot()) and new.epoch = (
       select coalesce(max(e.epoch), 0) from event_epochs e where e.institution_id = new.institution_id) then
    raise exception 'event_marks: % is not the number of its event', new.number using errcode = 'SD090';
  end if;
  return new;
end
$$;
