create index concurrently audit_entries_sign_ins on audit_entries (institution_id, user_id, audit_key) where action = 'login';
