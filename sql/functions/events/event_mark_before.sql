-- The number of the newest mark whose event was recorded before a moment, or 0. Marks in the archive count as before. Events follow the order
-- of commits, which is that of time within a minute, so the caller asks with a minute to spare. A binary search reads twenty marks of a million.
create or replace function event_mark_before(institution integer, moment timestamptz) returns bigint
language plpgsql stable
set search_path = pg_catalog, public, pg_temp
as $$
declare
  found_number bigint := 0;
  low bigint := 0;
  high bigint;
  middle bigint;
  mark_number bigint;
  mark_key bigint;
begin
  select coalesce(max(m.number), 0) into high from event_marks m where m.institution_id = institution;
  while low < high loop
    middle := (low + high + 1) / 2;
    select m.number, m.event_key into mark_number, mark_key from event_marks m
    where m.institution_id = institution and m.number > low and m.number <= middle
    order by m.number desc limit 1;
    if mark_number is null then
      low := middle;
    elsif exists (select from outbox o
                  where o.institution_id = institution and o.event_key = mark_key and o.recorded_at >= moment) then
      high := mark_number - 1;
    else
      found_number := mark_number;
      low := middle;
    end if;
  end loop;
  return found_number;
end
$$;
