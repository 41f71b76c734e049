-- Alerts: the rules that members set, the alerts that are derived from the feed by them, and the position of the derivation.

create table alert_preferences (
  institution_id     integer not null,
  user_key           bigint not null,
  time_zone          text not null check (length(time_zone) between 1 and 64),
  language           text not null check (language in ('en', 'es')),
  quiet_from         time,
  quiet_to           time,
  security_channels  text[] collate "C" not null,
  changed_at         timestamptz not null,
  primary key (institution_id, user_key),
  foreign key (institution_id, user_key) references users,
  constraint alert_preferences_quiet check
    ((quiet_from is null) = (quiet_to is null) and quiet_from <> quiet_to),
  constraint alert_preferences_security check
    (security_channels @> array['EMAIL', 'INBOX'] and security_channels <@ array['EMAIL', 'SMS', 'PUSH', 'INBOX'])
);

comment on table alert_preferences is 'How a member receives alerts. A member without a row has the defaults.';
comment on column alert_preferences.time_zone is 'IANA name, for quiet hours and the digest.';
comment on column alert_preferences.quiet_from is 'From then until quiet_to, alerts other than security alerts wait.';
comment on column alert_preferences.security_channels is 'Security alerts cannot be switched off.';

create table alert_rules (
  institution_id  integer not null,
  user_key        bigint not null,
  account_key     bigint not null,
  alert_type      text collate "C" not null check (alert_type in (
                    'LOW_BALANCE', 'HIGH_BALANCE', 'DEPOSIT', 'PAYMENT', 'TRANSFER_COMPLETE', 'TRANSFER_FAILED',
                    'TRANSFER_PENDING')),
  threshold       bigint check (threshold > 0),
  channels        text[] collate "C" not null,
  primary key (institution_id, user_key, account_key, alert_type),
  foreign key (institution_id, user_key) references users,
  foreign key (institution_id, account_key) references accounts,
  constraint alert_rules_threshold check
    ((threshold is not null) = (alert_type in ('LOW_BALANCE', 'HIGH_BALANCE', 'DEPOSIT', 'PAYMENT'))),
  constraint alert_rules_channels check
    (cardinality(channels) > 0 and channels <@ array['EMAIL', 'SMS', 'PUSH', 'INBOX'])
);
create index alert_rules_by_account on alert_rules (institution_id, account_key);

comment on table alert_rules is 'The alerts that members want about their accounts, one of each type.';
comment on column alert_rules.threshold is 'Minor units of the account''s currency.';

create table alerts (
  institution_id  integer not null,
  alert_key       bigint not null generated always as identity,
  alert_id        uuid not null,
  user_key        bigint not null,
  alert_type      text collate "C" not null check (alert_type in (
                    'LOW_BALANCE', 'HIGH_BALANCE', 'DEPOSIT', 'PAYMENT', 'TRANSFER_COMPLETE', 'TRANSFER_FAILED',
                    'TRANSFER_PENDING', 'CONTACT_CHANGED', 'PASSWORD_CHANGED')),
  event_id        text collate "C" not null,
  account_key     bigint,
  transfer_id     text collate "C",
  amount          bigint,
  balance         bigint,
  threshold       bigint,
  occurred_at     timestamptz not null,
  recorded_at     timestamptz not null,
  channels        text[] collate "C" not null check (cardinality(channels) > 0),
  due_at          timestamptz not null,
  released_at     timestamptz,
  read_at         timestamptz,
  primary key (institution_id, user_key, alert_key),
  constraint alerts_once unique (institution_id, alert_id),
  foreign key (institution_id, user_key) references users,
  constraint alerts_security check ((account_key is null) = (alert_type in ('CONTACT_CHANGED', 'PASSWORD_CHANGED')))
);
create index alerts_inbox on alerts (institution_id, user_key, alert_key) where channels @> array['INBOX'];
create index alerts_unread on alerts (institution_id, user_key, alert_key) where channels @> array['INBOX'] and read_at is null;
create index alerts_due on alerts (institution_id, due_at) where released_at is null;
create index alerts_by_age on alerts (institution_id, recorded_at);

comment on table alerts is 'Alerts of members, each from one event and one rule.';
comment on column alerts.alert_id is 'Derived from the event, the type, the account and the user, so that a repetition changes nothing.';
comment on column alerts.amount is 'Minor units of the account''s currency, as balance and threshold.';
comment on column alerts.balance is 'The available balance behind the event.';
comment on column alerts.due_at is 'Released then: at once, or at the end of quiet hours.';
comment on column alerts.released_at is 'When its event was written to the feed, in the same transaction.';

create table alert_positions (
  institution_id  integer primary key references institutions,
  epoch           bigint not null check (epoch >= 0),
  xid             xid8 not null,
  event_key       bigint not null check (event_key >= 0),
  number          bigint not null check (number >= 0),
  leased_by       uuid,
  lease_until     timestamptz,
  constraint alert_positions_lease check ((leased_by is null) = (lease_until is null))
);

comment on table alert_positions is 'How far alerts are derived from the feed. An institution without a row begins with its first event.';
comment on column alert_positions.number is 'Number of the last event at or before the position.';
comment on column alert_positions.leased_by is 'The process that derives alerts until lease_until.';

-- Institutions that exist already: nothing that happened before raises an alert.
do $$
declare
  each record;
begin
  for each in select i.institution_id as id from institutions i loop
    perform set_config('sharedraft.institution', each.id::text, true);
    insert into alert_positions (institution_id, epoch, xid, event_key, number)
    select each.id, o.epoch, o.xid, o.event_key, event_number(each.id, o.epoch, o.xid, o.event_key)
    from outbox o where o.institution_id = each.id
    order by o.epoch desc, o.xid desc, o.event_key desc limit 1;
  end loop;
end
$$;

select bind_to_institution('alert_preferences', 'alert_rules', 'alerts', 'alert_positions');

grant select, insert, update, delete on alert_preferences, alert_rules to sharedraft_service;
grant select, insert, update (released_at, read_at), delete on alerts to sharedraft_service;
grant select, insert, update on alert_positions to sharedraft_service;
grant usage on sequence alerts_alert_key_seq to sharedraft_service;
