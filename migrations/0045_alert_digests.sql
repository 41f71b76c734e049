-- Alerts that a member gets together, once a day.

alter table alert_preferences add column digest_at time;
comment on column alert_preferences.digest_at is 'On the clocks of time_zone. Alerts about accounts wait for it and go out together; null: each on its own.';

alter table alerts
  add column in_digest boolean not null default false,
  add constraint alerts_digest check (not in_digest or account_key is not null) not valid;
comment on column alerts.in_digest is 'It goes out at due_at together with the member''s others.';
