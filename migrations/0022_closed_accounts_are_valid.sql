-- Apart from the migration that adds them, so that no write waits for the scans.
alter table accounts validate constraint accounts_closed_by_operator;
alter table balances validate constraint balances_closed;
