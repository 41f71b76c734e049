-- Binds the transaction to one institution: it can write events of no other (check_event_writer), and the feeds of the others do not wait
-- for it (first_running). It is the transaction's first act, so that none of its events was written before.
create or replace function write_events_of(institution integer) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if pg_current_xact_id_if_assigned() is not null then
    raise exception 'events: the transaction has written before it was bound to institution %', institution using errcode = 'SD027';
  end if;
  perform set_config('sharedraft.events_of', institution::text, true);
  perform pg_advisory_xact_lock_shared(7305109, institution);
end
$$;
