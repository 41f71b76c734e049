create index concurrently alert_rules_of_dues on alert_rules (institution_id, account_key, user_key) where alert_type = 'PAYMENT_DUE';
