-- Webhooks: endpoints with their position in the feed, the events that wait behind it, and a log of attempts. While all is well an
-- event has no row of its own for an endpoint: the position moves past it.

create table webhook_endpoints (
  institution_id    integer not null,
  endpoint_id       uuid not null,
  client_id         text collate "C" not null,
  url               text not null check (length(url) <= 2048 and url ~ '^https?://[!-~]+$'),
  description       text check (length(description) between 1 and 140),
  event_types       text[] check (cardinality(event_types) between 1 and 100),
  payload           text not null check (payload in ('THIN', 'FULL')),
  ordering          text not null check (ordering in ('ACCOUNT', 'STRICT')),
  status            text not null check (status in ('ACTIVE', 'PAUSED', 'DISABLED')),
  status_reason     text check (status_reason in ('operator', 'client', 'gone', 'failing')),
  created_at        timestamptz not null,

  epoch             bigint not null check (epoch >= 0),
  xid               xid8 not null,
  event_key         bigint not null check (event_key >= 0),
  number            bigint not null check (number >= 0),

  failures          integer not null default 0 check (failures >= 0),
  failing_since     timestamptz,
  next_attempt_at   timestamptz,
  leased_by         uuid,
  lease_until       timestamptz,
  primary key (institution_id, endpoint_id),
  foreign key (institution_id, client_id) references clients (institution_id, client_id),
  constraint webhook_endpoints_reason check ((status = 'ACTIVE') = (status_reason is null)),
  constraint webhook_endpoints_failing check ((failures = 0) = (failing_since is null)),
  constraint webhook_endpoints_lease check ((leased_by is null) = (lease_until is null))
);

comment on table webhook_endpoints is 'Addresses to which events are sent, each with its position in the feed.';
comment on column webhook_endpoints.event_types is 'Null: all.';
comment on column webhook_endpoints.payload is 'THIN: ids, type, sequence and time. FULL: the event as in the feed.';
comment on column webhook_endpoints.ordering is
  'ACCOUNT: an event waits for earlier ones of its accounts only. STRICT: for all earlier ones.';
comment on column webhook_endpoints.number is 'Number of the last event at or before the position.';
comment on column webhook_endpoints.failures is 'Failed attempts since the last success.';
comment on column webhook_endpoints.next_attempt_at is 'While the endpoint fails, nothing is sent before this.';
comment on column webhook_endpoints.leased_by is 'The process that sends to the endpoint until lease_until.';

create table webhook_keys (
  institution_id      integer not null,
  endpoint_id         uuid not null,
  slot                smallint not null check (slot in (1, 2)),
  sealed_secret       bytea not null,
  sealed_private_key  bytea not null,
  public_key          text not null check (public_key ~ '^whpk_[A-Za-z0-9+/]{43}=$'),
  created_at          timestamptz not null,
  expires_at          timestamptz,
  primary key (institution_id, endpoint_id, slot),
  foreign key (institution_id, endpoint_id) references webhook_endpoints on delete cascade
);

comment on table webhook_keys is 'Signing keys of endpoints. Two may be valid at once, so that one can be replaced without an interruption.';
comment on column webhook_keys.sealed_secret is 'HMAC-SHA256, signature v1; AES-256-GCM under the service''s key-encryption key.';
comment on column webhook_keys.sealed_private_key is 'Ed25519, signature v1a; sealed likewise.';

create table webhook_deliveries (
  institution_id   integer not null,
  endpoint_id      uuid not null,
  number           bigint not null check (number > 0),
  epoch            bigint not null,
  xid              xid8 not null,
  event_key        bigint not null,
  lanes            text[] collate "C" not null check (cardinality(lanes) > 0),
  state            text not null check (state in ('WAITING', 'PARKED')),
  attempts         integer not null check (attempts >= 0),
  next_attempt_at  timestamptz,
  created_at       timestamptz not null,
  primary key (institution_id, endpoint_id, number),
  foreign key (institution_id, endpoint_id) references webhook_endpoints on delete cascade,
  constraint webhook_deliveries_next check (state = 'WAITING' or next_attempt_at is null)
);

comment on table webhook_deliveries is
  'Events behind the position of their endpoint that it has not accepted: they wait for another attempt, or for an earlier event of their accounts, or are parked.';
comment on column webhook_deliveries.number is 'Number of the event in the feed.';
comment on column webhook_deliveries.lanes is 'Ids of the accounts or of the user; the event waits for earlier ones with any of them.';
comment on column webhook_deliveries.next_attempt_at is 'Null: as soon as no earlier event is in the way.';

create table webhook_attempts (
  institution_id  integer not null,
  attempt_key     bigint not null generated always as identity,
  endpoint_id     uuid not null,
  number          bigint,
  event_id        text collate "C" not null,
  event_type      text not null,
  attempted_at    timestamptz not null,
  duration_ms     integer not null check (duration_ms >= 0),
  delivered       boolean not null,
  status          smallint,
  error           text check (length(error) <= 60),
  response        text check (length(response) <= 1024),
  primary key (institution_id, endpoint_id, attempt_key),
  foreign key (institution_id, endpoint_id) references webhook_endpoints on delete cascade
);
create index webhook_attempts_by_success on webhook_attempts (institution_id, endpoint_id, attempt_key) where delivered;
create index webhook_attempts_by_time on webhook_attempts (institution_id, attempted_at);

comment on table webhook_attempts is 'Attempts to deliver: all failures of the last thirty days, and the last hundred successes.';
comment on column webhook_attempts.response is 'The first 256 bytes of the response, escaped.';

select bind_to_institution('webhook_endpoints', 'webhook_keys', 'webhook_deliveries', 'webhook_attempts');

grant select, insert, update, delete on webhook_endpoints, webhook_deliveries to sharedraft_service;
grant select, insert, delete on webhook_attempts to sharedraft_service;
grant select, insert, update (expires_at), delete on webhook_keys to sharedraft_service;
