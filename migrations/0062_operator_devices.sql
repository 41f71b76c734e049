-- The command line signs operators in by device authorization (RFC 8628, ADR 59).

create table operator_device_requests (
  institution_id    integer not null,
  device_hash       bytea not null check (length(device_hash) = 32),
  user_code_hash    bytea not null check (length(user_code_hash) = 32),
  machine           text not null check (length(machine) between 1 and 128 and machine !~ '[[:cntrl:]]'),
  address           inet,
  created_at        timestamptz not null,
  expires_at        timestamptz not null check (expires_at > created_at),
  interval_seconds  integer not null check (interval_seconds between 5 and 3600),
  last_polled_at    timestamptz,
  operator_id       text collate "C",
  is_approved       boolean,
  method            text check (method in ('provider', 'passkey', 'demo')),
  authenticated_at  timestamptz,
  primary key (institution_id, device_hash),
  foreign key (institution_id, operator_id) references operators,
  constraint operator_device_requests_decided check (
    num_nonnulls(operator_id, is_approved, method, authenticated_at) in (0, 4))
);
create unique index operator_device_requests_by_code on operator_device_requests (institution_id, user_code_hash);
create index operator_device_requests_by_end on operator_device_requests (institution_id, expires_at);
comment on table operator_device_requests is 'Command lines that wait for an operator to sign them in, ten minutes at most. Deleted by the use of the code.';
comment on column operator_device_requests.device_hash is 'HMAC of the device code under SECRET_KEY.';
comment on column operator_device_requests.user_code_hash is 'HMAC of the code that the operator types.';
comment on column operator_device_requests.machine is 'The name that the machine gives itself.';
comment on column operator_device_requests.interval_seconds is 'The least time between two polls; five seconds more after each one that came too early.';
comment on column operator_device_requests.authenticated_at is 'The sign-in of the browser that decided.';

select bind_to_institution('operator_device_requests');

grant select, insert, delete on operator_device_requests to sharedraft_service;
grant update (interval_seconds, last_polled_at, operator_id, is_approved, method, authenticated_at) on operator_device_requests
  to sharedraft_service;
