-- Refuses events of another institution than the one that the transaction is bound to (write_events_of).
create or replace function check_event_writer() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  raise exception 'events: the transaction writes events of institution % only', current_setting('sharedraft.events_of') using errcode = 'SD028';
end
$$;
