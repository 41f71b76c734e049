-- In a migration of its own: no write waits for the scan of a long audit.
alter table audit_entries validate constraint audit_entries_operator_id_check;
alter table audit_entries validate constraint audit_entries_origin;
alter table audit_entries validate constraint audit_entries_break_glass;
