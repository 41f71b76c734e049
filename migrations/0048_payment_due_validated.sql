-- In a migration of its own: no write waits for the scan of a large table.
alter table alerts validate constraint alerts_alert_type_check;
alter table alerts validate constraint alerts_due_on;
alter table alert_rules validate constraint alert_rules_alert_type_check;
