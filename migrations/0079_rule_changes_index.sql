create index concurrently audit_entries_rule_changes on audit_entries (institution_id, recorded_at, audit_key) where action = 'transfer.rules_changed';
