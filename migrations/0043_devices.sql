-- The devices from which members signed in, for the alert about a new one.

create table user_devices (
  institution_id  integer not null,
  user_key        bigint not null,
  device_hash     bytea not null constraint user_devices_hash check (length(device_hash) = 32),
  first_seen_at   timestamptz not null,
  last_seen_at    timestamptz not null constraint user_devices_seen check (last_seen_at >= first_seen_at),
  primary key (institution_id, user_key, device_hash),
  foreign key (institution_id, user_key) references users
);
create index user_devices_by_time on user_devices (institution_id, last_seen_at);

comment on table user_devices is 'Devices from which a member signed in with a password or a passkey, in the last 400 days.';
comment on column user_devices.device_hash is 'Keyed hash of the browser''s cookie, of the app''s DPoP key, or of the device_id that the app sent.';
comment on column user_devices.last_seen_at is 'To the day: a sign-in within a day of it does not write.';

select bind_to_institution('user_devices');

grant select, insert, delete on user_devices to sharedraft_service;
grant update (last_seen_at) on user_devices to sharedraft_service;

alter table alerts
  drop constraint alerts_alert_type_check,
  add constraint alerts_alert_type_check check (alert_type in (
    'LOW_BALANCE', 'HIGH_BALANCE', 'DEPOSIT', 'PAYMENT', 'TRANSFER_COMPLETE', 'TRANSFER_FAILED', 'TRANSFER_PENDING',
    'CONTACT_CHANGED', 'PASSWORD_CHANGED', 'NEW_DEVICE')) not valid,
  drop constraint alerts_security,
  add constraint alerts_security check (
    (account_key is null) = (alert_type in ('CONTACT_CHANGED', 'PASSWORD_CHANGED', 'NEW_DEVICE'))) not valid;
