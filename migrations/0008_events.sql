-- Events for the feed, and the audit trail.

create table outbox (
  institution_id     integer not null,
  event_key          bigint not null generated always as identity,
  xid                xid8 not null default pg_current_xact_id(),
  epoch              integer not null default 0 check (epoch >= 0),
  kind               text not null,
  subject_key        bigint not null,
  from_key           bigint,
  from_seq           bigint,
  to_key             bigint,
  to_seq             bigint,
  data               jsonb,
  secret             bytea,
  secret_expires_at  timestamptz,
  recorded_at        timestamptz not null,
  primary key (institution_id, event_key)
);
create index outbox_feed on outbox (institution_id, epoch, xid, event_key);
create index outbox_secrets on outbox (institution_id, secret_expires_at) where secret is not null;

create trigger outbox_secret_deleted before update on outbox
  for each row execute function check_event_secret_deleted();

comment on table outbox is
  'Events, each written in the commit of its change. Key order is not commit order: a reader goes by (epoch, xid, event_key) and stops below the oldest running transaction (ADR 15).';
comment on column outbox.epoch is 'Number of event_epochs that the event belongs to.';
comment on column outbox.subject_key is 'Key of the transfer or user.';
comment on column outbox.from_seq is 'Number of the entry on the source account; gapless for each account.';
comment on column outbox.to_seq is 'Number of the entry on the destination account.';
comment on column outbox.secret is 'Sealed; deleted on delivery or expiry.';

create table event_epochs (
  institution_id  integer not null references institutions,
  epoch           integer not null check (epoch > 0),
  started_at      timestamptz not null,
  last_before     xid8,
  primary key (institution_id, epoch)
);

comment on table event_epochs is
  'Transactions are numbered by the cluster. After a restore or a fail-over the numbers may repeat, and a new epoch begins.';
comment on column event_epochs.last_before is
  'Last transaction of the epoch before that was kept. A later position refers to a lost event. Null: none was lost.';

create table event_timeline (
  only_row  boolean primary key default true check (only_row),
  timeline  text not null
);

comment on table event_timeline is
  'The cluster and its timeline on which events are written. Another one begins a new epoch.';

create table audit_entries (
  institution_id  integer not null check (institution_id >= 0),
  audit_key       bigint not null generated always as identity,
  recorded_at     timestamptz not null,
  action          text not null check (action ~ '^[a-z_]{1,30}(\.[a-z_]{1,30})?$'),
  outcome         text not null check (outcome in ('succeeded', 'refused')),
  reason          text check (reason ~ '^[a-z][a-z0-9_:.-]{0,99}$'),
  client_id       text collate "C",
  user_id         text collate "C",
  subject         text collate "C" check (length(subject) between 1 and 256),
  name_hash       bytea check (length(name_hash) = 32),
  address         inet,
  operator        text check (length(operator) between 1 and 128),
  operator_host   text check (length(operator_host) between 1 and 128),
  sudo_user       text check (length(sudo_user) between 1 and 128),
  operator_as     text check (length(operator_as) between 1 and 128),
  before_change   jsonb,
  after_change    jsonb,
  transaction_id  text collate "C" not null check (transaction_id ~ '^[!-~]{1,128}$'),
  times           integer not null check (times > 0),
  primary key (institution_id, audit_key),
  constraint audit_entries_origin check (num_nonnulls(address, operator) <= 1),
  constraint audit_entries_operator_known check
    (operator is not null or num_nonnulls(operator_host, sudo_user, operator_as) = 0)
);
create index audit_entries_by_time on audit_entries (institution_id, recorded_at, audit_key);

create trigger audit_entries_typed_operator before insert on audit_entries
  for each row when (new.operator_as is not null) execute function check_typed_operator();

comment on table audit_entries is
  'The audit trail: acts, their origin and outcome. Insert-only. It holds no secret, no token and no personal data of members.';
comment on column audit_entries.institution_id is
  '0 for the service as a whole: refusals before the institution was known, and acts that belong to none.';
comment on column audit_entries.reason is 'Why it was refused or how it was done, in a word of the service.';
comment on column audit_entries.subject is 'Object of the act if it is neither a client nor a user: the id of a key or token.';
comment on column audit_entries.name_hash is
  'Keyed hash of a username that no user has: it may be a password typed into the wrong field.';
comment on column audit_entries.address is 'Address of the caller. Null for commands and for acts of the service itself.';
comment on column audit_entries.operator is 'The system user that ran the command.';
comment on column audit_entries.sudo_user is 'SUDO_USER, which anyone can set: recorded, and never taken as a second person.';
comment on column audit_entries.operator_as is 'A typed name, which only a demo institution accepts.';
comment on column audit_entries.before_change is 'Settings that the act replaced.';
comment on column audit_entries.after_change is 'Settings that the act wrote.';
comment on column audit_entries.times is 'Equal acts of a minute share one entry, so that refusals do not fill the disk.';

-- A row as a batch sends it.
create type new_event as (
  kind               text,
  subject_key        bigint,
  from_key           bigint,
  from_seq           bigint,
  to_key             bigint,
  to_seq             bigint,
  data               jsonb,
  secret             bytea,
  secret_expires_at  timestamptz
);

select bind_to_institution('outbox', 'event_epochs', 'audit_entries');

-- The database alone sets an event's place in the feed.
grant select, insert (institution_id, epoch, kind, subject_key, from_key, from_seq, to_key, to_seq, data, secret,
                      secret_expires_at, recorded_at),
  update (secret, secret_expires_at) on outbox to sharedraft_service;
grant select, insert on event_epochs, audit_entries to sharedraft_service;
grant usage on sequence outbox_event_key_seq to sharedraft_service;
