-- In a migration of its own: no write waits for the scan of a large table.
alter table audit_entries validate constraint audit_entries_operator_id_check;
alter table audit_entries validate constraint audit_entries_origin;
alter table audit_entries validate constraint audit_entries_break_glass;
alter table member_sessions validate constraint member_sessions_methods_check;
alter table authorization_grants validate constraint authorization_grants_methods;
