-- A bound on the keys of the events that exist: with it, 0060 makes their table the first partition without a scan under a lock.
-- The previous version serves and writes meanwhile. It has room for a quarter of all events so far, and for a million more.
do $$
declare
  last constant bigint := coalesce(pg_sequence_last_value('outbox_event_key_seq'), 0);
begin
  execute format('alter table outbox add constraint outbox_first_partition check (event_key < %s) not valid',
                 last + 1 + greatest(1000000, last / 4));
end
$$;
