-- Sign-in in the browser (RFC 6749 section 4.1, OpenID Connect Core 1.0): members' sessions at our pages, their consents, and the grants
-- that an app exchanges for tokens. A request for authorization has no row: it travels sealed.

alter table clients
  add column redirect_uris text[] collate "C" not null default '{}'
    constraint clients_redirect_uris check (cardinality(redirect_uris) <= 20),
  add column logout_uris text[] collate "C" not null default '{}'
    constraint clients_logout_uris check (cardinality(logout_uris) <= 20),
  add column is_public boolean not null default false,
  add column is_first_party boolean not null default false,
  drop constraint clients_grants_check,
  add constraint clients_grants_check check (grants <@ array[
    'authorization_code', 'client_credentials', 'password', 'refresh_token',
    'urn:ietf:params:oauth:grant-type:jwt-bearer', 'urn:ietf:params:oauth:grant-type:saml2-bearer']),
  -- Without a secret, only the exchange of a code proves anything (RFC 9700 section 2.1.1).
  add constraint clients_public check (not is_public or grants <@ array['authorization_code', 'refresh_token']);

comment on column clients.redirect_uris is 'Addresses to which a member returns with a code, compared exactly; a port of the loopback address is free (RFC 8252 section 7.3).';
comment on column clients.logout_uris is 'Addresses to which a member returns from a logout (OpenID Connect RP-Initiated Logout 1.0).';
comment on column clients.is_public is 'An app on a device, which can keep no secret.';
comment on column clients.is_first_party is 'An app of the institution itself, which needs no consent of the member.';

grant update (redirect_uris, logout_uris, is_public, is_first_party) on clients to sharedraft_service;

create table member_sessions (
  institution_id    integer not null,
  session_id        uuid not null,
  secret_hash       bytea not null check (length(secret_hash) = 32),
  user_key          bigint not null,
  user_epoch        integer not null,
  methods           text[] not null check (cardinality(methods) > 0 and methods <@ array['pwd']),
  authenticated_at  timestamptz not null,
  created_at        timestamptz not null,
  last_used_at      timestamptz not null,
  expires_at        timestamptz not null,
  ended_at          timestamptz,
  address           inet,
  user_agent        text check (length(user_agent) <= 256),
  primary key (institution_id, session_id),
  foreign key (institution_id, user_key) references users,
  constraint member_sessions_by_secret unique (institution_id, secret_hash),
  constraint member_sessions_lifetime check (expires_at <= created_at + interval '12 hours' and authenticated_at <= last_used_at)
);
create index member_sessions_by_end on member_sessions (institution_id, expires_at);
create trigger member_sessions_end before update on member_sessions
  for each row execute function check_session();

comment on table member_sessions is 'Members who signed in at the service''s own pages, a row for each browser.';
comment on column member_sessions.secret_hash is 'Keyed hash of the cookie.';
comment on column member_sessions.user_epoch is 'users.token_epoch at sign-in; a later one ends the session.';
comment on column member_sessions.methods is 'How the member proved who they are (RFC 8176).';

create table consents (
  institution_id  integer not null,
  consent_id      uuid not null,
  client_id       text collate "C" not null,
  user_key        bigint not null,
  scopes          text[] not null check (cardinality(scopes) > 0),
  granted_at      timestamptz not null,
  expires_at      timestamptz not null,
  ended_at        timestamptz,
  ended_by        text check (ended_by in ('MEMBER', 'OPERATOR', 'REPLACED')),
  primary key (institution_id, consent_id),
  foreign key (institution_id, client_id) references clients,
  foreign key (institution_id, user_key) references users,
  constraint consents_lifetime check (expires_at > granted_at and expires_at <= granted_at + interval '366 days'),
  constraint consents_ended check ((ended_at is null) = (ended_by is null))
);
-- One at a time: a new consent replaces the one before.
create unique index consents_current on consents (institution_id, user_key, client_id) where ended_at is null;
create index consents_of_user on consents (institution_id, user_key, granted_at);
create trigger consents_end before update on consents
  for each row execute function check_consent();

comment on table consents is 'Rights that members gave to apps, each until a day.';

create table authorization_grants (
  institution_id    integer not null,
  grant_id          uuid not null,
  request_id        uuid not null,
  code_hash         bytea not null check (length(code_hash) = 32),
  client_id         text collate "C" not null,
  client_epoch      integer not null,
  user_key          bigint not null,
  user_epoch        integer not null,
  session_id        uuid not null,
  consent_id        uuid,
  redirect_uri      text not null,
  scopes            text[] not null,
  nonce             text check (length(nonce) <= 512),
  code_challenge    text collate "C" not null check (code_challenge ~ '^[A-Za-z0-9_-]{43}$'),
  authenticated_at  timestamptz not null,
  created_at        timestamptz not null,
  expires_at        timestamptz not null,
  exchanged_at      timestamptz,
  kept_until        timestamptz not null,
  primary key (institution_id, grant_id),
  foreign key (institution_id, client_id) references clients,
  foreign key (institution_id, user_key) references users,
  foreign key (institution_id, consent_id) references consents,
  constraint authorization_grants_by_code unique (institution_id, code_hash),
  -- A request gives one code, however often its page is sent.
  constraint authorization_grants_by_request unique (institution_id, request_id),
  constraint authorization_grants_lifetime check (expires_at <= created_at + interval '60 seconds')
);
create index authorization_grants_by_end on authorization_grants (institution_id, kept_until);
create index authorization_grants_of_consent on authorization_grants (institution_id, consent_id) where consent_id is not null;
create trigger authorization_grants_within_consent before insert on authorization_grants
  for each row execute function check_new_authorization_grant();
create trigger authorization_grants_once before update on authorization_grants
  for each row execute function check_authorization_grant();

comment on table authorization_grants is
  'Grants of members to apps, one a sign-in. The code is exchanged once; the tokens that come of it carry grant_id as their sid.';
comment on column authorization_grants.kept_until is 'Until the last token that came of it has expired.';

-- The sign-in behind a family may be older than the family.
alter table refresh_families
  add column authenticated_at timestamptz
    constraint refresh_families_authenticated check (authenticated_at <= created_at);

comment on column refresh_families.authenticated_at is 'When the member proved who they are; null: at created_at.';

select bind_to_institution('member_sessions', 'consents', 'authorization_grants');

grant select, insert, delete on member_sessions, authorization_grants to sharedraft_service;
grant select, insert on consents to sharedraft_service;
grant update (last_used_at, authenticated_at, ended_at) on member_sessions to sharedraft_service;
grant update (ended_at, ended_by) on consents to sharedraft_service;
grant update (exchanged_at) on authorization_grants to sharedraft_service;
