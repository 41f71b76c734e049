-- In a migration of its own: writers of events do not wait for the scan of their marks.
alter table event_marks validate constraint event_marks_institution_id_event_key_fkey;
