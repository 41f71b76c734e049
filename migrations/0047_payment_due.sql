-- The day on which a loan's payment is due, and the alert about it.

alter table loans add column next_due_on date;
comment on column loans.next_due_on is 'The day on which the amount due is to be paid, as the core states it.';
grant update (next_due_on) on loans to sharedraft_service;

alter table staged_accounts
  add column due_given boolean,
  add column next_due_on date;
comment on column staged_accounts.due_given is 'The extract has a column for the next due date. Null from a version without it.';

alter table alerts
  alter column event_id drop not null,
  add column due_on date,
  drop constraint alerts_alert_type_check,
  add constraint alerts_alert_type_check check (alert_type in (
    'LOW_BALANCE', 'HIGH_BALANCE', 'DEPOSIT', 'PAYMENT', 'TRANSFER_COMPLETE', 'TRANSFER_FAILED', 'TRANSFER_PENDING',
    'PAYMENT_DUE', 'CONTACT_CHANGED', 'PASSWORD_CHANGED', 'NEW_DEVICE')) not valid,
  add constraint alerts_due_on check (
    (due_on is not null) = (alert_type = 'PAYMENT_DUE') and (event_id is null) = (alert_type = 'PAYMENT_DUE')) not valid;
comment on column alerts.due_on is 'The day on which the payment is due. No event raises this alert: the calendar does.';

alter table alert_rules
  drop constraint alert_rules_alert_type_check,
  add constraint alert_rules_alert_type_check check (alert_type in (
    'LOW_BALANCE', 'HIGH_BALANCE', 'DEPOSIT', 'PAYMENT', 'TRANSFER_COMPLETE', 'TRANSFER_FAILED', 'TRANSFER_PENDING',
    'PAYMENT_DUE')) not valid;

alter table alert_positions add column dues_seen_on date;
comment on column alert_positions.dues_seen_on is 'The last day, in the institution''s time zone, for which payments due were looked up.';
