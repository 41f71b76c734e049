-- Passkeys (WebAuthn level 3): public keys of members, and the challenges that were answered.

create table passkeys (
  institution_id  integer not null,
  passkey_id      uuid not null,
  credential_id   bytea not null check (length(credential_id) between 1 and 1023),
  user_key        bigint not null,
  place           smallint not null constraint passkeys_place check (place between 1 and 10),
  public_key      bytea not null check (length(public_key) between 1 and 2048),
  sign_count      bigint not null constraint passkeys_sign_count check (sign_count between 0 and 4294967295),
  is_synced       boolean not null,
  name            text not null constraint passkeys_name check (
                    length(name) between 1 and 64 and name = btrim(name) and name !~ '[[:cntrl:]]'),
  created_at      timestamptz not null,
  last_used_at    timestamptz constraint passkeys_used check (last_used_at >= created_at),
  primary key (institution_id, passkey_id),
  foreign key (institution_id, user_key) references users,
  constraint passkeys_by_credential unique (institution_id, credential_id),
  constraint passkeys_by_place unique (institution_id, user_key, place)
);
create trigger passkeys_count before update on passkeys
  for each row execute function check_passkey();

comment on table passkeys is 'Public keys with which members sign in, at most ten each. The private key never leaves the member''s device or its maker''s cloud.';
comment on column passkeys.credential_id is 'The id that the authenticator gave.';
comment on column passkeys.place is 'One of the member''s ten.';
comment on column passkeys.public_key is 'COSE key (RFC 9052).';
comment on column passkeys.sign_count is 'The last signature counter; 0 from authenticators that have none.';
comment on column passkeys.is_synced is 'Its maker copies it among the member''s devices, so it is no proof of one device.';

create table passkey_challenges (
  institution_id  integer not null,
  challenge       bytea not null constraint passkey_challenges_challenge check (length(challenge) = 32),
  expires_at      timestamptz not null,
  primary key (institution_id, challenge)
);
create index passkey_challenges_by_end on passkey_challenges (institution_id, expires_at);

comment on table passkey_challenges is 'Challenges that a passkey answered: each counts once. A challenge travels sealed in its page until then.';

alter table member_sessions
  drop constraint member_sessions_methods_check,
  add constraint member_sessions_methods_check
    check (cardinality(methods) > 0 and methods <@ array['pwd', 'hwk', 'swk', 'user', 'mfa']) not valid;

alter table authorization_grants
  add column methods text[] not null default '{pwd}',
  add constraint authorization_grants_methods
    check (cardinality(methods) > 0 and methods <@ array['pwd', 'hwk', 'swk', 'user', 'mfa']) not valid;

comment on column authorization_grants.methods is 'How the member proved who they are (RFC 8176), for the claim amr.';

select bind_to_institution('passkeys', 'passkey_challenges');

grant select, insert, delete on passkeys, passkey_challenges to sharedraft_service;
grant update (sign_count, last_used_at) on passkeys to sharedraft_service;
