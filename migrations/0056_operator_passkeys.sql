-- Operators outside the demo: invitations by a one-time code, and passkeys (ADR 56).

alter table operators
  add column email text check (
    length(email) between 3 and 254 and email ~ '^[^[:space:][:cntrl:]@]+@[^[:space:][:cntrl:]@]+$'),
  add constraint operators_invited_by_address check (source <> 'INVITATION' or email is not null);
create unique index operators_by_email on operators (institution_id, lower(email)) where email is not null and status <> 'ENDED';
comment on column operators.email is 'The address that the institution has of the person. No message goes there.';
grant insert (email) on operators to sharedraft_service;

create table operator_invitations (
  institution_id   integer not null,
  operator_id      text collate "C" not null,
  selector         text collate "C" not null check (length(selector) = 8),
  secret_hash      bytea not null check (length(secret_hash) = 32),
  failed_tries     smallint not null default 0 check (failed_tries between 0 and 5),
  expires_at       timestamptz not null,
  primary key (institution_id, operator_id),
  foreign key (institution_id, operator_id) references operators
);
create unique index operator_invitations_by_selector on operator_invitations (institution_id, selector);
comment on table operator_invitations is 'One-time codes with which operators enroll their first passkey: one an operator, deleted by its use.';
comment on column operator_invitations.secret_hash is 'HMAC of the code''s 128 random bits under SECRET_KEY.';

create table operator_passkeys (
  institution_id   integer not null,
  passkey_id       uuid not null,
  credential_id    bytea not null check (length(credential_id) between 1 and 1023),
  operator_id      text collate "C" not null,
  place            smallint not null constraint operator_passkeys_place check (place between 1 and 10),
  public_key       bytea not null check (length(public_key) between 1 and 2048),
  sign_count       bigint not null constraint operator_passkeys_sign_count check (sign_count between 0 and 4294967295),
  is_synced        boolean not null,
  name             text not null constraint operator_passkeys_name check (
                     length(name) between 1 and 64 and name = btrim(name) and name !~ '[[:cntrl:]]'),
  created_at       timestamptz not null,
  last_used_at     timestamptz,
  primary key (institution_id, passkey_id),
  constraint operator_passkeys_by_credential unique (institution_id, credential_id),
  constraint operator_passkeys_by_place unique (institution_id, operator_id, place),
  constraint operator_passkeys_used check (last_used_at >= created_at),
  foreign key (institution_id, operator_id) references operators
);
create trigger operator_passkeys_owner before insert on operator_passkeys
  for each row execute function check_operator_passkey();
create trigger operator_sessions_begin before insert on operator_sessions
  for each row execute function check_operator_session();
comment on table operator_passkeys is 'Public keys with which operators sign in, at most ten each. Those of members are in another table, so neither signs in the other.';
comment on column operator_passkeys.credential_id is 'The id that the authenticator gave.';
comment on column operator_passkeys.place is 'One of the operator''s ten.';
comment on column operator_passkeys.public_key is 'COSE key (RFC 9052).';
comment on column operator_passkeys.sign_count is 'The last signature counter; 0 from authenticators that have none.';
comment on column operator_passkeys.is_synced is 'Its maker copies it among the person''s devices, so it is no proof of one device.';

select bind_to_institution('operator_invitations', 'operator_passkeys');

grant select, insert, delete on operator_invitations, operator_passkeys to sharedraft_service;
grant update (selector, secret_hash, failed_tries, expires_at) on operator_invitations to sharedraft_service;
grant update (sign_count, last_used_at) on operator_passkeys to sharedraft_service;
