-- Identities asserted by somebody else: the identity providers that an institution registered (RFC 7522, RFC 7523,
-- RFC 9068), and the assertions that were used, so that none is used twice.

-- ---------------------------------------------------------------------------------------------------------
-- The global directory: whose provider a token or assertion comes from is known by its issuer and audience, before
-- the institution is. One issuer may serve several institutions, under an audience for each.

create table provider_directory (
  issuer          text collate "C" not null check (issuer ~ '^[!-~]+$' and length(issuer) <= 1024),
  audience        text collate "C" not null check (audience ~ '^[!-~]+$' and length(audience) <= 1024),
  institution_id  integer not null references institutions,
  provider_id     text collate "C" not null check (provider_id ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$'),
  primary key (issuer, audience),
  unique (institution_id, provider_id)
);

-- ---------------------------------------------------------------------------------------------------------
-- What the institution said of the provider.

-- One sequence for all: a provider that was removed and registered again never has an old generation.
create sequence provider_generations as bigint;

create table identity_providers (
  institution_id   integer not null,
  provider_id      text collate "C" not null,
  kind             text not null check (kind in ('jwt', 'saml')),
  -- JSON Web Keys, public parts only; a certificate stands for its key.
  keys             jsonb not null check (jsonb_typeof(keys) = 'array' and jsonb_array_length(keys) between 1 and 20),
  -- Who is meant: the claim of a JWT or the NameID Format of a SAML assertion, and what kind of id stands in it.
  subject_from     text collate "C" not null check (subject_from ~ '^[!-~]{1,255}$'),
  user_id_type     text not null
                   check (user_id_type in ('CUSTOMER_ID', 'MEMBER_NUMBER', 'EMAIL', 'LOGIN_ID', 'USER_ID')),
  scopes           text[] not null check (cardinality(scopes) > 0),
  -- Whether its own access tokens open resources, and what their typ must be.
  resource_tokens  boolean not null,
  token_type       text collate "C" not null check (token_type ~ '^[A-Za-z0-9.+/-]{1,64}$'),
  active           boolean not null,
  -- What was made by an older generation is void.
  generation       bigint not null default nextval('provider_generations'),
  created_at       timestamptz not null,
  primary key (institution_id, provider_id),
  foreign key (institution_id, provider_id) references provider_directory (institution_id, provider_id),
  constraint identity_providers_public_keys check (not jsonb_path_exists(keys, '$[*] ? (exists(@.d) || exists(@.k))')),
  constraint identity_providers_resource_tokens check (kind = 'jwt' or not resource_tokens)
);

create function check_provider_generation() returns trigger language plpgsql as $$
begin
  if new.generation <= old.generation then
    raise exception 'identity provider %: a change needs a new generation', old.provider_id using errcode = 'SD101';
  end if;
  return new;
end
$$;

create trigger identity_providers_changed before update on identity_providers
  for each row execute function check_provider_generation();

-- Assertions are good for one token. Rows go when the assertion would no longer be believed anyway.
create table spent_assertions (
  institution_id  integer not null references institutions,
  provider_id     text collate "C" not null,
  -- SHA-256 of the JWT's jti or the SAML assertion's ID.
  id_hash         bytea not null check (length(id_hash) = 32),
  expires_at      timestamptz not null,
  primary key (institution_id, provider_id, id_hash)
);
create index spent_assertions_by_expiry on spent_assertions (institution_id, expires_at);

-- Which grants there are is said by src/auth/grants/index.ts.
alter table clients drop constraint clients_grants_check;
alter table clients add constraint clients_grants_check check (grants <@ array[
  'client_credentials', 'password', 'refresh_token', 'urn:ietf:params:oauth:grant-type:jwt-bearer',
  'urn:ietf:params:oauth:grant-type:saml2-bearer']);

-- ---------------------------------------------------------------------------------------------------------
-- The second wall.

do $$
declare
  tenant text;
begin
  foreach tenant in array array['identity_providers', 'spent_assertions'] loop
    execute format('alter table %I enable row level security', tenant);
    execute format('alter table %I force row level security', tenant);
    execute format(
      'create policy institution on %I using (institution_id = '
      '(select current_setting(''sharedraft.institution'')::integer))', tenant);
  end loop;
end
$$;

grant select on provider_directory, identity_providers, spent_assertions to sharedraft_service;
grant usage on sequence provider_generations to sharedraft_service;
grant insert, delete on provider_directory, identity_providers, spent_assertions to sharedraft_service;
grant update (keys, subject_from, user_id_type, scopes, resource_tokens, token_type, active, generation)
  on identity_providers to sharedraft_service;
