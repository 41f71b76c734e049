-- Tokens: the keys that sign them, the clients and identity providers that obtain them, and their revocation.

-- ---------------------------------------------------------------------------------------------------------
-- The global directory, read before the institution is known.

create table signing_keys (
  kid                 text collate "C" primary key,
  generation          integer not null check (generation > 0),
  algorithm           text not null check (algorithm = 'ES256'),
  public_jwk          jsonb not null,
  sealed_private_key  bytea,
  created_at          timestamptz not null,
  signs_from          timestamptz not null,
  -- Two processes that rotate at the same moment create one key.
  constraint signing_keys_by_generation unique (generation),
  constraint signing_keys_published_first check (signs_from >= created_at)
);

comment on table signing_keys is
  'Keys of access tokens. Each is published before it signs, and verifies until its last token has expired.';
comment on column signing_keys.sealed_private_key is
  'AES-256-GCM under the service''s key-encryption key. Null once the next key has taken over.';
comment on column signing_keys.signs_from is 'Moment from which this key signs.';

create table client_directory (
  -- Only characters that mean themselves in HTTP Basic: libraries disagree on form-encoding (RFC 6749 section 2.3.1).
  client_id       text collate "C" primary key
                  constraint client_directory_plain_ids check (client_id ~ '^[A-Za-z0-9._~-]{1,128}$'),
  institution_id  integer not null references institutions
);

comment on table client_directory is 'The institution of each client id.';

create table provider_directory (
  issuer          text collate "C" not null check (issuer ~ '^[!-~]+$' and length(issuer) <= 1024),
  audience        text collate "C" not null check (audience ~ '^[!-~]+$' and length(audience) <= 1024),
  institution_id  integer not null references institutions,
  provider_id     text collate "C" not null check (provider_id ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$'),
  primary key (issuer, audience),
  unique (institution_id, provider_id)
);

comment on table provider_directory is
  'The institution of each identity provider. One issuer may serve several institutions, each under an audience of its own.';

-- ---------------------------------------------------------------------------------------------------------
-- Clients.

create table clients (
  institution_id                  integer not null references institutions,
  client_id                       text collate "C" not null references client_directory,
  name                            text not null,
  scopes                          text[] not null,
  grants                          text[] not null check (grants <@ array[
                                    'client_credentials', 'password', 'refresh_token',
                                    'urn:ietf:params:oauth:grant-type:jwt-bearer',
                                    'urn:ietf:params:oauth:grant-type:saml2-bearer']),
  token_lifetime_seconds          integer check (token_lifetime_seconds between 60 and 86400),
  networks                        cidr[],
  active                          boolean not null default true,
  token_epoch                     integer not null default 0 check (token_epoch >= 0),
  introspects_all                 boolean not null default false,
  registration_refusals           text not null default 'UNIFORM' check (registration_refusals in ('DISTINCT', 'UNIFORM')),
  allows_token_endpoint_audience  boolean not null default false,
  created_at                      timestamptz not null,
  primary key (institution_id, client_id),
  -- An IPv4 network is written as IPv4, not as mapped into IPv6.
  constraint clients_networks check (cardinality(networks) > 0 and not '::ffff:0:0/96'::cidr >>= any (networks))
);

create trigger clients_revoke_tokens before update of active on clients
  for each row when (old.active and not new.active) execute function raise_token_epoch();

comment on table clients is 'OAuth clients: apps of the institution and its partners.';
comment on column clients.networks is 'Networks from which the client may authenticate. Null: any.';
comment on column clients.token_epoch is 'Stands in every token of the client. Raising it revokes them.';
comment on column clients.introspects_all is 'May introspect tokens issued to other clients (RFC 7662 section 2.1).';
comment on column clients.registration_refusals is
  'UNIFORM: every refused registration gets the same response, so that the client does not learn whether a person is a member.';
comment on column clients.allows_token_endpoint_audience is
  'An assertion may name the token endpoint as its audience, for libraries that cannot name the issuer (draft-ietf-oauth-rfc7523bis).';

create table client_secrets (
  institution_id  integer not null,
  client_id       text collate "C" not null,
  secret_hash     bytea not null check (length(secret_hash) = 32),
  created_at      timestamptz not null,
  expires_at      timestamptz,
  -- Two secrets may be valid at once, so that one can be replaced without an interruption.
  slot            smallint not null check (slot in (1, 2)),
  primary key (institution_id, client_id, secret_hash),
  foreign key (institution_id, client_id) references clients,
  constraint client_secrets_two unique (institution_id, client_id, slot)
);

comment on table client_secrets is 'Hashes of client secrets, at most two a client.';

create table client_keys (
  institution_id  integer not null,
  client_id       text collate "C" not null,
  kid             text collate "C" not null check (kid ~ '^[!-~]{1,128}$'),
  algorithm       text not null check (algorithm in ('ES256', 'RS256', 'PS256', 'EdDSA')),
  public_jwk      jsonb not null check (not public_jwk ?| array['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']),
  created_at      timestamptz not null,
  primary key (institution_id, client_id, kid),
  foreign key (institution_id, client_id) references clients
);

comment on table client_keys is 'Public keys of clients that authenticate by private_key_jwt.';
comment on column client_keys.algorithm is 'The only algorithm that this key verifies; the header of an assertion does not choose another.';

create table client_assertion_replays (
  institution_id  integer not null references institutions,
  assertion_hash  bytea not null check (length(assertion_hash) = 32),
  expires_at      timestamptz not null,
  primary key (institution_id, assertion_hash)
);
create index client_assertion_replays_by_expiry on client_assertion_replays (institution_id, expires_at);

comment on table client_assertion_replays is 'Replay cache: each client assertion is accepted once.';
comment on column client_assertion_replays.assertion_hash is 'Keyed hash of the client id and the assertion''s jti.';

-- ---------------------------------------------------------------------------------------------------------
-- Identity providers (RFC 7522, RFC 7523, RFC 9068).

-- One sequence for all: a provider that is removed and registered again never has an old generation.
create sequence provider_generations as bigint;

create table identity_providers (
  institution_id   integer not null,
  provider_id      text collate "C" not null,
  kind             text not null check (kind in ('jwt', 'saml')),
  keys             jsonb not null check (jsonb_typeof(keys) = 'array' and jsonb_array_length(keys) between 1 and 20),
  subject_from     text collate "C" not null check (subject_from ~ '^[!-~]{1,255}$'),
  user_id_type     text not null
                   check (user_id_type in ('CUSTOMER_ID', 'MEMBER_NUMBER', 'EMAIL', 'LOGIN_ID', 'USER_ID')),
  scopes           text[] not null check (cardinality(scopes) > 0),
  resource_tokens  boolean not null,
  token_type       text collate "C" not null check (token_type ~ '^[A-Za-z0-9.+/-]{1,64}$'),
  active           boolean not null,
  tokens_ended_at  timestamptz,
  generation       bigint not null default nextval('provider_generations'),
  created_at       timestamptz not null,
  primary key (institution_id, provider_id),
  foreign key (institution_id, provider_id) references provider_directory (institution_id, provider_id),
  constraint identity_providers_public_keys check (not jsonb_path_exists(keys, '$[*] ? (exists(@.d) || exists(@.k))')),
  constraint identity_providers_resource_tokens check (kind = 'jwt' or not resource_tokens)
);

create trigger identity_providers_changed before update on identity_providers
  for each row execute function check_provider_generation();
create trigger identity_providers_tokens before update of active, resource_tokens, tokens_ended_at on identity_providers
  for each row when ((old.active, old.resource_tokens) is distinct from (new.active, new.resource_tokens)
                     or old.tokens_ended_at is distinct from new.tokens_ended_at)
  execute function end_provider_tokens();

comment on table identity_providers is 'Providers that assert the identity of members.';
comment on column identity_providers.keys is 'JSON Web Keys, public parts only. A certificate is stored as its key.';
comment on column identity_providers.subject_from is 'Claim of a JWT, or NameID Format of a SAML assertion, that names the member.';
comment on column identity_providers.user_id_type is 'Kind of id in the subject.';
comment on column identity_providers.resource_tokens is 'The provider''s own access tokens are accepted by resources.';
comment on column identity_providers.token_type is 'Required typ of those access tokens.';
comment on column identity_providers.tokens_ended_at is 'An access token of the provider issued before this moment is void.';
comment on column identity_providers.generation is 'Raised by each change. Tokens of an older generation are void.';

create table provider_assertion_replays (
  institution_id  integer not null references institutions,
  provider_id     text collate "C" not null,
  id_hash         bytea not null check (length(id_hash) = 32),
  expires_at      timestamptz not null,
  primary key (institution_id, provider_id, id_hash)
);
create index provider_assertion_replays_by_expiry on provider_assertion_replays (institution_id, expires_at);

comment on table provider_assertion_replays is
  'Replay cache: each identity assertion is exchanged once. Rows are deleted when the assertion has expired.';
comment on column provider_assertion_replays.id_hash is 'SHA-256 of the JWT''s jti or of the SAML assertion''s ID.';

-- ---------------------------------------------------------------------------------------------------------
-- Sessions.

create table refresh_families (
  institution_id  integer not null,
  family_id       uuid not null,
  client_id       text collate "C" not null,
  user_key        bigint not null,
  scopes          text[] not null check ('offline_access' = any (scopes)),
  client_epoch    integer not null,
  user_epoch      integer not null,
  generation      integer not null check (generation >= 0),
  token_hash      bytea not null check (length(token_hash) = 32),
  rotated_at      timestamptz not null,
  idle_until      timestamptz not null,
  expires_at      timestamptz not null,
  revoked_at      timestamptz,
  created_at      timestamptz not null,
  primary key (institution_id, family_id),
  foreign key (institution_id, client_id) references clients,
  foreign key (institution_id, user_key) references users,
  constraint refresh_families_lifetime check (idle_until <= expires_at)
) with (fillfactor = 80);
create index refresh_families_by_end on refresh_families (institution_id, idle_until);

create trigger refresh_families_renewed before update on refresh_families
  for each row execute function check_refresh_family();

comment on table refresh_families is
  'Logins that refresh tokens renew. Each token is good once; only the newest is stored, as a hash. Older ones are recognized by their number.';
comment on column refresh_families.client_epoch is 'clients.token_epoch at login.';
comment on column refresh_families.user_epoch is 'users.token_epoch at login.';
comment on column refresh_families.generation is 'Number of the newest token, from 0.';
comment on column refresh_families.token_hash is 'Keyed hash of the newest token.';
comment on column refresh_families.rotated_at is 'Moment at which the newest token replaced the one before.';
comment on column refresh_families.idle_until is 'End if no token is used until then.';
comment on column refresh_families.expires_at is 'End in any case.';

create table revocations (
  institution_id  integer not null references institutions,
  revoked_id      uuid not null,
  expires_at      timestamptz not null,
  primary key (institution_id, revoked_id)
);
create index revocations_by_expiry on revocations (institution_id, expires_at);

comment on table revocations is 'Access tokens revoked before their expiry, kept until then.';
comment on column revocations.revoked_id is 'A token''s jti, or its sid: the refresh family it came from.';

select bind_to_institution('clients', 'client_secrets', 'client_keys', 'client_assertion_replays', 'identity_providers',
                           'provider_assertion_replays', 'refresh_families', 'revocations');

grant select, insert on client_directory, clients to sharedraft_service;
grant select, insert, delete on signing_keys, provider_directory, client_secrets, client_keys, client_assertion_replays,
  identity_providers, provider_assertion_replays, refresh_families, revocations to sharedraft_service;
grant update (sealed_private_key) on signing_keys to sharedraft_service;
grant update (name, scopes, grants, token_lifetime_seconds, networks, active, introspects_all, registration_refusals,
              allows_token_endpoint_audience)
  on clients to sharedraft_service;
grant update (expires_at) on client_secrets to sharedraft_service;
grant update (keys, subject_from, user_id_type, scopes, resource_tokens, token_type, active, tokens_ended_at,
              generation)
  on identity_providers to sharedraft_service;
grant update (generation, token_hash, rotated_at, idle_until, revoked_at) on refresh_families to sharedraft_service;
grant usage on sequence provider_generations to sharedraft_service;
