create index concurrently accounts_by_class on accounts (institution_id, di_account_type, currency, account_key) where purpose is null;
