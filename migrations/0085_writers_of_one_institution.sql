-- A transaction that is bound to an institution writes events of no other (write_events_of). The feeds of the others do not wait for it, and
-- would skip such an event.

create trigger outbox_writer before insert on outbox for each statement
  when (nullif(current_setting('sharedraft.events_of', true), '') <> current_setting('sharedraft.institution', true))
  execute function check_event_writer();
