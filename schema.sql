-- Generated from the migrated database by "npm run generate"; not to be edited.
--
-- psql -f schema.sql loads it into an empty database. The service does not serve such a database, since it has no record of
-- its migrations; it creates its own schema. A comment of a table or column follows its table.
--
-- Two roles are named after the database (ADR 18); here it is called sharedraft. sharedraft_service has the rights at the
-- end of this file, sharedraft_backup reads every row.

set check_function_bodies = off;

do $$
begin
  create role sharedraft_service nologin;
exception when duplicate_object then null;
end
$$;

do $$
begin
  create role sharedraft_backup nologin;
exception when duplicate_object then null;
end
$$;

-- ---------------------------------------------------------------------------------------------------------
-- storage

create table schema_migrations (
  version     integer not null,
  name        text not null,
  checksum    text not null,
  applied_at  timestamp with time zone not null,
  constraint schema_migrations_pkey PRIMARY KEY (version)
);
comment on table schema_migrations is 'The migrations applied to this database, each once.';

create table schema_functions (
  name        text not null,
  checksum    text not null,
  program     text not null,
  applied_at  timestamp with time zone not null,
  constraint schema_functions_pkey PRIMARY KEY (name)
);
comment on table schema_functions is 'The files of sql/functions as last applied, and the version of the program that did.';

-- ---------------------------------------------------------------------------------------------------------
-- institutions

create table institutions (
  institution_id                    integer not null generated always as identity,
  code                              text collate "C" not null,
  name                              text not null,
  currency                          text collate "C" not null,
  time_zone                         text not null,
  demo                              boolean not null default false,
  clock_ahead_seconds               bigint not null default 0,
  created_at                        timestamp with time zone not null,
  enrollment                        text not null,
  registration_birth_date           boolean not null default false,
  openings_per_day                  integer not null default 1000,
  opening_deposit_minor             bigint not null default 0,
  opening_deposits_per_day          bigint not null default 100000000,
  password_min_length               smallint not null default 15,
  contact_change_max_age            integer not null default 0,
  record                            text not null default 'ledger'::text,
  transfer_step_up_max_age          integer not null default 0,
  transfer_step_up_above            bigint not null default 0,
  transfer_step_up_new_destination  boolean not null default false,
  transfer_step_up_passkey          boolean not null default false,
  transfer_step_up_from             timestamp with time zone,
  served                            text not null default 'here'::text,
  other_cell                        text collate "C",
  host                              text collate "C",
  moves                             integer not null default 0,
  brand_color                       text,
  logo                              bytea,
  logo_hash                         text,
  constraint institutions_pkey PRIMARY KEY (institution_id),
  constraint institutions_code_key UNIQUE (code),
  constraint institutions_brand_color CHECK (brand_color ~ '^#[0-9a-f]{6}$'::text),
  constraint institutions_clock CHECK (clock_ahead_seconds = 0 OR demo),
  constraint institutions_clock_ahead_seconds_check CHECK (clock_ahead_seconds >= 0 AND clock_ahead_seconds <= 315576000),
  constraint institutions_code_check CHECK (code ~ '^[a-z][a-z0-9-]{1,30}$'::text),
  constraint institutions_contact_change_max_age_check CHECK (contact_change_max_age >= 0 AND contact_change_max_age <= 2592000),
  constraint institutions_currency_check CHECK (currency ~ '^[A-Z]{3}$'::text),
  constraint institutions_enrollment_check CHECK (enrollment = ANY (ARRAY['closed'::text, 'open'::text])),
  constraint institutions_host CHECK (length(host) <= 253 AND host ~ '^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$'::text),
  constraint institutions_logo_hash CHECK (NOT logo_hash IS DISTINCT FROM encode(sha256(logo), 'hex'::text)),
  constraint institutions_logo_is_png CHECK (octet_length(logo) >= 8 AND octet_length(logo) <= 32768 AND SUBSTRING(logo FROM 1 FOR 8) = '\x89504e470d0a1a0a'::bytea),
  constraint institutions_moves_check CHECK (moves >= 0),
  constraint institutions_name_check CHECK (name <> ''::text),
  constraint institutions_opening_deposit_minor_check CHECK (opening_deposit_minor >= 0),
  constraint institutions_opening_deposits_per_day_check CHECK (opening_deposits_per_day >= 0),
  constraint institutions_openings_per_day_check CHECK (openings_per_day >= 0 AND openings_per_day <= 10000000),
  constraint institutions_password_min_length_check CHECK (password_min_length >= 8 AND password_min_length <= 128),
  constraint institutions_record_check CHECK (record = ANY (ARRAY['ledger'::text, 'core'::text])),
  constraint institutions_served CHECK ((served = 'here'::text) = (other_cell IS NULL)),
  constraint institutions_served_check CHECK (served = ANY (ARRAY['here'::text, 'arriving'::text, 'leaving'::text, 'left'::text, 'gone'::text])),
  constraint institutions_transfer_step_up_above_check CHECK (transfer_step_up_above >= 0),
  constraint institutions_transfer_step_up_max_age_check CHECK (transfer_step_up_max_age >= 0 AND transfer_step_up_max_age <= 2592000)
);
CREATE INDEX institutions_by_logo ON institutions USING btree (logo_hash) WHERE (logo_hash IS NOT NULL);
CREATE UNIQUE INDEX institutions_host_is_free ON institutions USING btree (host) WHERE (served <> 'gone'::text);
comment on table institutions is 'Banks and credit unions that this database serves. Readable without an institution.';
comment on column institutions.code is 'The name of the institution in commands and addresses.';
comment on column institutions.demo is 'A sandbox: typed operator names and a clock that can be moved, no real members.';
comment on column institutions.clock_ahead_seconds is 'How far the business time of a demo is ahead of the clock.';
comment on column institutions.enrollment is 'closed: only members of the core may register. open: registering also opens a membership.';
comment on column institutions.registration_birth_date is 'If the core has no e-mail address of a member, the birth date must be given and right.';
comment on column institutions.openings_per_day is 'Cap on memberships opened in one day of the institution.';
comment on column institutions.opening_deposit_minor is 'Deposit that the funding account pays into a new membership.';
comment on column institutions.opening_deposits_per_day is 'Cap on opening deposits paid in one day, in minor units.';
comment on column institutions.contact_change_max_age is 'Seconds since the last sign-in within which a member may change contact data. 0: any session may.';
comment on column institutions.record is 'ledger: this ledger is the record of the accounts. core: the core system is, and this ledger is its copy. Fixed by the first import.';
comment on column institutions.transfer_step_up_max_age is 'The most seconds since a member''s sign-in for a transfer that needs a recent one; 0: none needs one.';
comment on column institutions.transfer_step_up_above is 'Transfers above this amount need a recent sign-in, in minor units of the institution''s currency. Transfers in another currency always do.';
comment on column institutions.transfer_step_up_new_destination is 'So does a transfer of any amount to an account that the membership has not paid in 400 days.';
comment on column institutions.transfer_step_up_passkey is 'The recent sign-in must be one with a passkey.';
comment on column institutions.transfer_step_up_from is 'From this time on the database refuses transfers without a recent sign-in. Processes learn of a change within a second.';
comment on column institutions.served is 'here; arriving: its rows are being copied from another cell; leaving: closed for the end of its move; left: served by another cell, and the copy is kept; gone: served by another cell, without a copy here.';
comment on column institutions.other_cell is 'The cell that it comes from or went to.';
comment on column institutions.host is 'The host name of its own, in lower case and ASCII; null: it is found at PUBLIC_URL only. The issuer there is https:// and this name.';
comment on column institutions.moves is 'How often it has changed its cell. The directory has this number too: where it is higher, this database is older than the last move.';
comment on column institutions.brand_color is 'The color of buttons, links and the name. Null: that of the service.';
comment on column institutions.logo is 'A PNG that stands in place of the name.';
comment on column institutions.logo_hash is 'SHA-256 of the logo, in its address.';

-- ---------------------------------------------------------------------------------------------------------
-- members

create table persons (
  institution_id    integer not null,
  person_key        bigint not null generated always as identity,
  person_id         text collate "C" not null,
  first_name        text not null,
  last_name         text not null,
  email             text,
  phone_number      text,
  phone_type        text,
  birth_date        date,
  self_declared     boolean not null default false,
  first_name_lower  text collate "C" not null generated always as (lower(first_name)) stored,
  last_name_lower   text collate "C" not null generated always as (lower(last_name)) stored,
  email_lower       text collate "C" generated always as (lower(email)) stored,
  erased_at         timestamp with time zone,
  constraint persons_pkey PRIMARY KEY (institution_id, person_key),
  constraint persons_institution_id_person_id_key UNIQUE (institution_id, person_id),
  constraint persons_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint persons_email_check CHECK (email <> ''::text),
  constraint persons_person_id_check CHECK (person_id ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$'::text),
  constraint persons_phone CHECK ((phone_number IS NULL) = (phone_type IS NULL)),
  constraint persons_phone_number_check CHECK (phone_number ~ '^\+[1-9][0-9]{1,14}$'::text),
  constraint persons_phone_type_check CHECK (phone_type = ANY (ARRAY['MOBILE'::text, 'HOME'::text, 'WORK'::text]))
);
CREATE INDEX persons_by_email ON persons USING btree (institution_id, email_lower) WHERE (email_lower IS NOT NULL);
CREATE INDEX persons_by_first_name ON persons USING btree (institution_id, first_name_lower, last_name_lower, person_key);
CREATE INDEX persons_by_name ON persons USING btree (institution_id, last_name_lower, first_name_lower, person_key);
comment on table persons is 'Natural persons on the record of the core system.';
comment on column persons.person_key is 'Key inside the database; never leaves the service.';
comment on column persons.person_id is 'Id in the core system.';
comment on column persons.phone_number is 'E.164.';
comment on column persons.self_declared is 'The member typed these data when opening a membership; the core has not confirmed them.';
comment on column persons.erased_at is 'When the personal data was erased. No import brings it back.';

create table customers (
  institution_id  integer not null,
  customer_key    bigint not null generated always as identity,
  customer_id     text collate "C" not null,
  member_number   text collate "C" not null,
  member_type     text not null,
  constraint customers_pkey PRIMARY KEY (institution_id, customer_key),
  constraint customers_institution_id_customer_id_key UNIQUE (institution_id, customer_id),
  constraint customers_institution_id_member_number_key UNIQUE (institution_id, member_number),
  constraint customers_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint customers_customer_id_check CHECK (customer_id ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$'::text),
  constraint customers_member_number_check CHECK (member_number ~ '^[A-Za-z0-9-]{1,32}$'::text),
  constraint customers_member_type_check CHECK (member_type = ANY (ARRAY['RETAIL'::text, 'BUSINESS'::text]))
);
comment on table customers is 'Memberships: a household or a business with one member number.';
comment on column customers.customer_id is 'Id in the core system.';
comment on column customers.member_number is 'The number that members know.';

create table customer_persons (
  institution_id  integer not null,
  customer_key    bigint not null,
  person_key      bigint not null,
  role            text not null,
  constraint customer_persons_pkey PRIMARY KEY (institution_id, customer_key, person_key),
  constraint customer_persons_institution_id_customer_key_fkey FOREIGN KEY (institution_id, customer_key) REFERENCES customers(institution_id, customer_key),
  constraint customer_persons_institution_id_person_key_fkey FOREIGN KEY (institution_id, person_key) REFERENCES persons(institution_id, person_key),
  constraint customer_persons_role_check CHECK (role = ANY (ARRAY['PRIMARY'::text, 'JOINT'::text, 'AUTHORIZED_SIGNER'::text, 'BUSINESS_ADMIN'::text, 'BUSINESS_USER'::text]))
);
CREATE INDEX customer_persons_by_person ON customer_persons USING btree (institution_id, person_key);
CREATE UNIQUE INDEX customer_persons_one_primary ON customer_persons USING btree (institution_id, customer_key) WHERE (role = 'PRIMARY'::text);
comment on table customer_persons is 'The persons of a membership and their roles. One is PRIMARY.';

create table users (
  institution_id        integer not null,
  user_key              bigint not null generated always as identity,
  user_id               text collate "C" not null,
  person_key            bigint not null,
  created_at            timestamp with time zone not null,
  email                 text not null,
  verified_email        text,
  email_verified_by     text,
  username              text,
  password_hash         text,
  failed_logins         smallint not null default 0,
  locked_until          timestamp with time zone,
  locked_by_operator    boolean not null default false,
  active                boolean not null default true,
  token_epoch           integer not null default 0,
  tokens_ended_at       timestamp with time zone,
  username_lower        text generated always as (lower(username)) stored,
  verified_email_lower  text generated always as (lower(verified_email)) stored,
  email_lower           text collate "C" generated always as (lower(email)) stored,
  constraint users_pkey PRIMARY KEY (institution_id, user_key),
  constraint users_institution_id_person_key_key UNIQUE (institution_id, person_key),
  constraint users_institution_id_user_id_key UNIQUE (institution_id, user_id),
  constraint users_institution_id_person_key_fkey FOREIGN KEY (institution_id, person_key) REFERENCES persons(institution_id, person_key),
  constraint users_activated CHECK ((username IS NULL) = (password_hash IS NULL)),
  constraint users_email_check CHECK (email <> ''::text),
  constraint users_email_verified CHECK ((verified_email IS NULL) = (email_verified_by IS NULL)),
  constraint users_email_verified_by_check CHECK (email_verified_by = ANY (ARRAY['CORE'::text, 'CODE'::text])),
  constraint users_failed_logins_check CHECK (failed_logins >= 0 AND failed_logins <= 100),
  constraint users_token_epoch_check CHECK (token_epoch >= 0),
  constraint users_user_id_check CHECK (user_id ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$'::text),
  constraint users_username_check CHECK (length(username) >= 6 AND length(username) <= 64 AND username !~ '^[0-9]+$'::text),
  constraint users_verified_email_check CHECK (verified_email <> ''::text)
);
CREATE INDEX users_by_email ON users USING btree (institution_id, email_lower);
CREATE UNIQUE INDEX users_by_username ON users USING btree (institution_id, username_lower);
CREATE INDEX users_by_verified_email ON users USING btree (institution_id, verified_email_lower);
CREATE UNIQUE INDEX users_email_confirmed_once ON users USING btree (institution_id, verified_email_lower) WHERE (email_verified_by = 'CODE'::text);
comment on table users is 'Persons with digital access. A user who has not activated it has no username and no password.';
comment on column users.email is 'Contact address. It identifies a user only once it is verified.';
comment on column users.verified_email is 'Address that identifies the user.';
comment on column users.email_verified_by is 'CORE: the core system has this address. CODE: a code sent to it came back.';
comment on column users.username is 'As typed; unique without regard to case.';
comment on column users.password_hash is 'argon2id.';
comment on column users.failed_logins is 'Failed logins since the last success. At 100 the password has expired.';
comment on column users.locked_until is 'End of a lock after failed logins.';
comment on column users.token_epoch is 'Stands in every token of the user. Raising it revokes them.';
comment on column users.tokens_ended_at is 'A provider''s access token issued before this moment is void.';

create table user_phones (
  institution_id  integer not null,
  user_key        bigint not null,
  phone_type      text not null,
  phone_number    text not null,
  constraint user_phones_pkey PRIMARY KEY (institution_id, user_key, phone_type),
  constraint user_phones_institution_id_user_key_fkey FOREIGN KEY (institution_id, user_key) REFERENCES users(institution_id, user_key),
  constraint user_phones_phone_number_check CHECK (phone_number ~ '^\+[1-9][0-9]{1,14}$'::text),
  constraint user_phones_phone_type_check CHECK (phone_type = ANY (ARRAY['MOBILE'::text, 'HOME'::text, 'WORK'::text]))
);
comment on table user_phones is 'Contact numbers of users, one of each type, in E.164.';

create table activations (
  institution_id  integer not null,
  user_key        bigint not null,
  selector        text collate "C" not null,
  secret_hash     bytea not null,
  failed_tries    smallint not null default 0,
  expires_at      timestamp with time zone not null,
  constraint activations_pkey PRIMARY KEY (institution_id, user_key),
  constraint activations_institution_id_selector_key UNIQUE (institution_id, selector),
  constraint activations_institution_id_user_key_fkey FOREIGN KEY (institution_id, user_key) REFERENCES users(institution_id, user_key),
  constraint activations_failed_tries_check CHECK (failed_tries >= 0 AND failed_tries <= 5),
  constraint activations_secret_hash_check CHECK (length(secret_hash) = 32)
);
comment on table activations is 'Activation codes: the one-time code with which a registered member sets a username and password.';
comment on column activations.selector is 'First part of the code; finds the row.';
comment on column activations.secret_hash is 'Hash of the second part; the code itself is not stored.';

create table email_codes (
  institution_id  integer not null,
  user_key        bigint not null,
  selector        text collate "C" not null,
  secret_hash     bytea not null,
  email           text not null,
  failed_tries    smallint not null default 0,
  expires_at      timestamp with time zone not null,
  constraint email_codes_pkey PRIMARY KEY (institution_id, user_key),
  constraint email_codes_institution_id_selector_key UNIQUE (institution_id, selector),
  constraint email_codes_institution_id_user_key_fkey FOREIGN KEY (institution_id, user_key) REFERENCES users(institution_id, user_key),
  constraint email_codes_email_check CHECK (email <> ''::text),
  constraint email_codes_failed_tries_check CHECK (failed_tries >= 0 AND failed_tries <= 5),
  constraint email_codes_secret_hash_check CHECK (length(secret_hash) = 32)
);
comment on table email_codes is 'One-time codes that verify an e-mail address.';
comment on column email_codes.selector is 'First part of the code; finds the row.';
comment on column email_codes.secret_hash is 'Hash of the second part; the code itself is not stored.';
comment on column email_codes.email is 'The address that the code was sent to; it verifies no other.';

create table registration_tries (
  institution_id  integer not null,
  member_number   text collate "C" not null,
  tries           integer not null,
  last_at         timestamp with time zone not null,
  paused_until    timestamp with time zone,
  constraint registration_tries_pkey PRIMARY KEY (institution_id, member_number),
  constraint registration_tries_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint registration_tries_member_number_check CHECK (member_number ~ '^[A-Za-z0-9-]{1,32}$'::text),
  constraint registration_tries_paused CHECK (tries < 20 OR paused_until >= (last_at + '00:01:00'::interval)),
  constraint registration_tries_tries_check CHECK (tries > 0)
);
CREATE INDEX registration_tries_by_age ON registration_tries USING btree (institution_id, last_at);
comment on table registration_tries is 'Failed registrations by member number, known or unknown. The row is deleted when one succeeds.';

-- ---------------------------------------------------------------------------------------------------------
-- auth

create table signing_keys (
  kid                 text collate "C" not null,
  generation          integer not null,
  algorithm           text not null,
  public_jwk          jsonb not null,
  sealed_private_key  bytea,
  created_at          timestamp with time zone not null,
  signs_from          timestamp with time zone not null,
  constraint signing_keys_pkey PRIMARY KEY (kid),
  constraint signing_keys_by_generation UNIQUE (generation),
  constraint signing_keys_algorithm_check CHECK (algorithm = 'ES256'::text),
  constraint signing_keys_generation_check CHECK (generation > 0),
  constraint signing_keys_published_first CHECK (signs_from >= created_at)
);
comment on table signing_keys is 'Keys of access tokens. Each is published before it signs, and verifies until its last token has expired.';
comment on column signing_keys.sealed_private_key is 'AES-256-GCM under the service''s key-encryption key. Null once the next key has taken over.';
comment on column signing_keys.signs_from is 'Moment from which this key signs.';

create table client_directory (
  client_id       text collate "C" not null,
  institution_id  integer not null,
  constraint client_directory_pkey PRIMARY KEY (client_id),
  constraint client_directory_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint client_directory_plain_ids CHECK (client_id ~ '^[A-Za-z0-9._~-]{1,128}$'::text)
);
comment on table client_directory is 'The institution of each client id.';

create table provider_directory (
  issuer          text collate "C" not null,
  audience        text collate "C" not null,
  institution_id  integer not null,
  provider_id     text collate "C" not null,
  constraint provider_directory_pkey PRIMARY KEY (issuer, audience),
  constraint provider_directory_institution_id_provider_id_key UNIQUE (institution_id, provider_id),
  constraint provider_directory_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint provider_directory_audience_check CHECK (audience ~ '^[!-~]+$'::text AND length(audience) <= 1024),
  constraint provider_directory_issuer_check CHECK (issuer ~ '^[!-~]+$'::text AND length(issuer) <= 1024),
  constraint provider_directory_provider_id_check CHECK (provider_id ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$'::text)
);
comment on table provider_directory is 'The institution of each identity provider. One issuer may serve several institutions, each under an audience of its own.';

create table clients (
  institution_id                  integer not null,
  client_id                       text collate "C" not null,
  name                            text not null,
  scopes                          text[] not null,
  grants                          text[] not null,
  token_lifetime_seconds          integer,
  networks                        cidr[],
  active                          boolean not null default true,
  token_epoch                     integer not null default 0,
  introspects_all                 boolean not null default false,
  registration_refusals           text not null default 'UNIFORM'::text,
  allows_token_endpoint_audience  boolean not null default false,
  created_at                      timestamp with time zone not null,
  redirect_uris                   text[] collate "C" not null default '{}'::text[],
  logout_uris                     text[] collate "C" not null default '{}'::text[],
  is_public                       boolean not null default false,
  is_first_party                  boolean not null default false,
  requires_dpop                   boolean not null default false,
  security_profile                text not null default 'STANDARD'::text,
  backchannel_logout_uri          text collate "C",
  binds_to_certificate            boolean not null default false,
  constraint clients_pkey PRIMARY KEY (institution_id, client_id),
  constraint clients_client_id_fkey FOREIGN KEY (client_id) REFERENCES client_directory(client_id),
  constraint clients_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint clients_backchannel_logout_uri CHECK (backchannel_logout_uri ~ '^https?://[!-~]+$'::text AND backchannel_logout_uri !~ '#'::text AND length(backchannel_logout_uri) <= 2048),
  constraint clients_fapi2 CHECK (security_profile <> 'FAPI2'::text OR NOT is_public AND requires_dpop <> binds_to_certificate AND NOT allows_token_endpoint_audience AND NOT grants && ARRAY['password'::text] AND NOT (array_to_string(redirect_uris, ' '::text) || ' '::text) ~ '(^| )(?!https://)[^ ]'::text),
  constraint clients_grants_check CHECK (grants <@ ARRAY['authorization_code'::text, 'client_credentials'::text, 'password'::text, 'refresh_token'::text, 'urn:ietf:params:oauth:grant-type:jwt-bearer'::text, 'urn:ietf:params:oauth:grant-type:saml2-bearer'::text]),
  constraint clients_logout_uris CHECK (cardinality(logout_uris) <= 20),
  constraint clients_networks CHECK (cardinality(networks) > 0 AND NOT ('::ffff:0.0.0.0/96'::cidr::inet >>= ANY (networks::inet[]))),
  constraint clients_one_binding CHECK (NOT (binds_to_certificate AND (requires_dpop OR is_public))),
  constraint clients_public CHECK (NOT is_public OR grants <@ ARRAY['authorization_code'::text, 'refresh_token'::text]),
  constraint clients_redirect_uris CHECK (cardinality(redirect_uris) <= 20),
  constraint clients_registration_refusals_check CHECK (registration_refusals = ANY (ARRAY['DISTINCT'::text, 'UNIFORM'::text])),
  constraint clients_security_profile CHECK (security_profile = ANY (ARRAY['STANDARD'::text, 'FAPI2'::text])),
  constraint clients_token_epoch_check CHECK (token_epoch >= 0),
  constraint clients_token_lifetime_seconds_check CHECK (token_lifetime_seconds >= 60 AND token_lifetime_seconds <= 86400)
);
comment on table clients is 'OAuth clients: apps of the institution and its partners.';
comment on column clients.networks is 'Networks from which the client may authenticate. Null: any.';
comment on column clients.token_epoch is 'Stands in every token of the client. Raising it revokes them.';
comment on column clients.introspects_all is 'May introspect tokens issued to other clients (RFC 7662 section 2.1).';
comment on column clients.registration_refusals is 'UNIFORM: every refused registration gets the same response, so that the client does not learn whether a person is a member.';
comment on column clients.allows_token_endpoint_audience is 'An assertion may name the token endpoint as its audience, for libraries that cannot name the issuer (draft-ietf-oauth-rfc7523bis).';
comment on column clients.redirect_uris is 'Addresses to which a member returns with a code, compared exactly; a port of the loopback address is free (RFC 8252 section 7.3).';
comment on column clients.logout_uris is 'Addresses to which a member returns from a logout (OpenID Connect RP-Initiated Logout 1.0).';
comment on column clients.is_public is 'An app on a device, which can keep no secret.';
comment on column clients.is_first_party is 'An app of the institution itself, which needs no consent of the member.';
comment on column clients.requires_dpop is 'Its tokens are bound to a key (RFC 9449).';
comment on column clients.security_profile is 'FAPI2: the FAPI 2.0 Security Profile of the OpenID Foundation.';
comment on column clients.backchannel_logout_uri is 'Address that gets a logout token when a member''s session in the browser ends; null: none. Only a demo institution sends to http.';
comment on column clients.binds_to_certificate is 'Its tokens are bound to the certificate of its connection (RFC 8705 section 3).';

create table client_secrets (
  institution_id  integer not null,
  client_id       text collate "C" not null,
  secret_hash     bytea not null,
  created_at      timestamp with time zone not null,
  expires_at      timestamp with time zone,
  slot            smallint not null,
  constraint client_secrets_pkey PRIMARY KEY (institution_id, client_id, secret_hash),
  constraint client_secrets_two UNIQUE (institution_id, client_id, slot),
  constraint client_secrets_institution_id_client_id_fkey FOREIGN KEY (institution_id, client_id) REFERENCES clients(institution_id, client_id),
  constraint client_secrets_secret_hash_check CHECK (length(secret_hash) = 32),
  constraint client_secrets_slot_check CHECK (slot = ANY (ARRAY[1, 2]))
);
comment on table client_secrets is 'Hashes of client secrets, at most two a client.';

create table client_keys (
  institution_id  integer not null,
  client_id       text collate "C" not null,
  kid             text collate "C" not null,
  algorithm       text not null,
  public_jwk      jsonb not null,
  created_at      timestamp with time zone not null,
  constraint client_keys_pkey PRIMARY KEY (institution_id, client_id, kid),
  constraint client_keys_institution_id_client_id_fkey FOREIGN KEY (institution_id, client_id) REFERENCES clients(institution_id, client_id),
  constraint client_keys_algorithm_check CHECK (algorithm = ANY (ARRAY['ES256'::text, 'RS256'::text, 'PS256'::text, 'EdDSA'::text])),
  constraint client_keys_kid_check CHECK (kid ~ '^[!-~]{1,128}$'::text),
  constraint client_keys_public_jwk_check CHECK (NOT public_jwk ?| ARRAY['d'::text, 'p'::text, 'q'::text, 'dp'::text, 'dq'::text, 'qi'::text, 'k'::text])
);
comment on table client_keys is 'Public keys of clients that authenticate by private_key_jwt.';
comment on column client_keys.algorithm is 'The only algorithm that this key verifies; the header of an assertion does not choose another.';

create table client_assertion_replays (
  institution_id  integer not null,
  assertion_hash  bytea not null,
  expires_at      timestamp with time zone not null,
  constraint client_assertion_replays_pkey PRIMARY KEY (institution_id, assertion_hash),
  constraint client_assertion_replays_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint client_assertion_replays_assertion_hash_check CHECK (length(assertion_hash) = 32)
);
CREATE INDEX client_assertion_replays_by_expiry ON client_assertion_replays USING btree (institution_id, expires_at);
comment on table client_assertion_replays is 'Replay cache: each client assertion is accepted once.';
comment on column client_assertion_replays.assertion_hash is 'Keyed hash of the client id and the assertion''s jti.';

create sequence provider_generations as bigint increment by 1;

create table identity_providers (
  institution_id   integer not null,
  provider_id      text collate "C" not null,
  kind             text not null,
  keys             jsonb not null,
  subject_from     text collate "C" not null,
  user_id_type     text not null,
  scopes           text[] not null,
  resource_tokens  boolean not null,
  token_type       text collate "C" not null,
  active           boolean not null,
  tokens_ended_at  timestamp with time zone,
  generation       bigint not null default nextval('provider_generations'::regclass),
  created_at       timestamp with time zone not null,
  constraint identity_providers_pkey PRIMARY KEY (institution_id, provider_id),
  constraint identity_providers_institution_id_provider_id_fkey FOREIGN KEY (institution_id, provider_id) REFERENCES provider_directory(institution_id, provider_id),
  constraint identity_providers_keys_check CHECK (jsonb_typeof(keys) = 'array'::text AND jsonb_array_length(keys) >= 1 AND jsonb_array_length(keys) <= 20),
  constraint identity_providers_kind_check CHECK (kind = ANY (ARRAY['jwt'::text, 'saml'::text])),
  constraint identity_providers_public_keys CHECK (NOT jsonb_path_exists(keys, '$[*]?(exists (@."d") || exists (@."k"))'::jsonpath)),
  constraint identity_providers_resource_tokens CHECK (kind = 'jwt'::text OR NOT resource_tokens),
  constraint identity_providers_scopes_check CHECK (cardinality(scopes) > 0),
  constraint identity_providers_subject_from_check CHECK (subject_from ~ '^[!-~]{1,255}$'::text),
  constraint identity_providers_token_type_check CHECK (token_type ~ '^[A-Za-z0-9.+/-]{1,64}$'::text),
  constraint identity_providers_user_id_type_check CHECK (user_id_type = ANY (ARRAY['CUSTOMER_ID'::text, 'MEMBER_NUMBER'::text, 'EMAIL'::text, 'LOGIN_ID'::text, 'USER_ID'::text]))
);
comment on table identity_providers is 'Providers that assert the identity of members.';
comment on column identity_providers.keys is 'JSON Web Keys, public parts only. A certificate is stored as its key.';
comment on column identity_providers.subject_from is 'Claim of a JWT, or NameID Format of a SAML assertion, that names the member.';
comment on column identity_providers.user_id_type is 'Kind of id in the subject.';
comment on column identity_providers.resource_tokens is 'The provider''s own access tokens are accepted by resources.';
comment on column identity_providers.token_type is 'Required typ of those access tokens.';
comment on column identity_providers.tokens_ended_at is 'An access token of the provider issued before this moment is void.';
comment on column identity_providers.generation is 'Raised by each change. Tokens of an older generation are void.';

create table provider_assertion_replays (
  institution_id  integer not null,
  provider_id     text collate "C" not null,
  id_hash         bytea not null,
  expires_at      timestamp with time zone not null,
  constraint provider_assertion_replays_pkey PRIMARY KEY (institution_id, provider_id, id_hash),
  constraint provider_assertion_replays_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint provider_assertion_replays_id_hash_check CHECK (length(id_hash) = 32)
);
CREATE INDEX provider_assertion_replays_by_expiry ON provider_assertion_replays USING btree (institution_id, expires_at);
comment on table provider_assertion_replays is 'Replay cache: each identity assertion is exchanged once. Rows are deleted when the assertion has expired.';
comment on column provider_assertion_replays.id_hash is 'SHA-256 of the JWT''s jti or of the SAML assertion''s ID.';

create table refresh_families (
  institution_id          integer not null,
  family_id               uuid not null,
  client_id               text collate "C" not null,
  user_key                bigint not null,
  scopes                  text[] not null,
  client_epoch            integer not null,
  user_epoch              integer not null,
  generation              integer not null,
  token_hash              bytea not null,
  rotated_at              timestamp with time zone not null,
  idle_until              timestamp with time zone not null,
  expires_at              timestamp with time zone not null,
  revoked_at              timestamp with time zone,
  created_at              timestamp with time zone not null,
  authenticated_at        timestamp with time zone,
  key_thumbprint          text collate "C",
  used_at                 timestamp with time zone,
  acr                     text,
  consent_id              uuid,
  methods                 text[],
  certificate_thumbprint  text collate "C",
  constraint refresh_families_pkey PRIMARY KEY (institution_id, family_id),
  constraint refresh_families_institution_id_client_id_fkey FOREIGN KEY (institution_id, client_id) REFERENCES clients(institution_id, client_id),
  constraint refresh_families_institution_id_user_key_fkey FOREIGN KEY (institution_id, user_key) REFERENCES users(institution_id, user_key),
  constraint refresh_families_acr_check CHECK (acr = ANY (ARRAY['phr'::text, 'http://schemas.openid.net/pape/policies/2007/06/multi-factor'::text])),
  constraint refresh_families_acr_of_methods CHECK (methods IS NULL OR NOT acr IS DISTINCT FROM
CASE
    WHEN methods && ARRAY['hwk'::text, 'swk'::text] THEN 'phr'::text
    WHEN methods @> ARRAY['mfa'::text] THEN 'http://schemas.openid.net/pape/policies/2007/06/multi-factor'::text
    ELSE NULL::text
END),
  constraint refresh_families_authenticated CHECK (authenticated_at <= created_at),
  constraint refresh_families_certificate_thumbprint CHECK (certificate_thumbprint ~ '^[A-Za-z0-9_-]{43}$'::text),
  constraint refresh_families_generation_check CHECK (generation >= 0),
  constraint refresh_families_key_thumbprint CHECK (key_thumbprint ~ '^[A-Za-z0-9_-]{43}$'::text),
  constraint refresh_families_lifetime CHECK (idle_until <= expires_at),
  constraint refresh_families_methods CHECK (cardinality(methods) > 0 AND methods <@ ARRAY['pwd'::text, 'otp'::text, 'hwk'::text, 'swk'::text, 'user'::text, 'mfa'::text]),
  constraint refresh_families_one_binding CHECK (key_thumbprint IS NULL OR certificate_thumbprint IS NULL),
  constraint refresh_families_scopes_check CHECK ('offline_access'::text = ANY (scopes)),
  constraint refresh_families_token_hash_check CHECK (length(token_hash) = 32)
) with (fillfactor=80);
CREATE INDEX refresh_families_by_end ON refresh_families USING btree (institution_id, idle_until);
CREATE INDEX refresh_families_by_user ON refresh_families USING btree (institution_id, user_key);
comment on table refresh_families is 'Logins that refresh tokens renew. Each token is good once; only the newest is stored, as a hash. Older ones are recognized by their number.';
comment on column refresh_families.client_epoch is 'clients.token_epoch at login.';
comment on column refresh_families.user_epoch is 'users.token_epoch at login.';
comment on column refresh_families.generation is 'Number of the newest token, from 0.';
comment on column refresh_families.token_hash is 'Keyed hash of the newest token.';
comment on column refresh_families.rotated_at is 'Moment at which the newest token replaced the one before.';
comment on column refresh_families.idle_until is 'End if no token is used until then.';
comment on column refresh_families.expires_at is 'End in any case.';
comment on column refresh_families.authenticated_at is 'When the member proved who they are; null: at created_at.';
comment on column refresh_families.key_thumbprint is 'The key of the proof with which the login began (RFC 9449 section 5); null for bearer tokens.';
comment on column refresh_families.used_at is 'The last renewal; null before the first.';
comment on column refresh_families.acr is 'phr: the member signed in with a passkey. The address of multi-factor: with a password and a code. Null: with a password, or before this column.';
comment on column refresh_families.consent_id is 'Null: the login needs no consent, or began before this column.';
comment on column refresh_families.methods is 'How the member proved who they are (RFC 8176), for the claim amr. Null: the login began before this column.';
comment on column refresh_families.certificate_thumbprint is 'The certificate with which the login began (RFC 8705 section 3); null for other tokens.';

create table revocations (
  institution_id  integer not null,
  revoked_id      uuid not null,
  expires_at      timestamp with time zone not null,
  constraint revocations_pkey PRIMARY KEY (institution_id, revoked_id),
  constraint revocations_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id)
);
CREATE INDEX revocations_by_expiry ON revocations USING btree (institution_id, expires_at);
comment on table revocations is 'Access tokens revoked before their expiry, kept until then.';
comment on column revocations.revoked_id is 'A token''s jti, or its sid: the refresh family it came from.';

-- ---------------------------------------------------------------------------------------------------------
-- accounts

create table accounts (
  institution_id        integer not null,
  account_key           bigint not null generated always as identity,
  account_id            text collate "C" not null,
  customer_key          bigint,
  purpose               text,
  account_number        text not null,
  di_account_type       text not null,
  category              text not null,
  description           text not null,
  currency              text collate "C" not null,
  closed                boolean not null default false,
  delinquent            boolean not null default false,
  transfer_restriction  text,
  overdraft_limit       bigint not null default 0,
  credit_limit          bigint not null default 0,
  operator_restriction  text,
  closed_by_operator    boolean not null default false,
  constraint accounts_pkey PRIMARY KEY (institution_id, account_key),
  constraint accounts_institution_id_account_id_key UNIQUE (institution_id, account_id),
  constraint accounts_institution_id_customer_key_fkey FOREIGN KEY (institution_id, customer_key) REFERENCES customers(institution_id, customer_key),
  constraint accounts_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint accounts_account_id_check CHECK (account_id ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$'::text),
  constraint accounts_card_last_four CHECK (di_account_type <> 'CREDIT_CARD_LOAN'::text OR account_number ~ '^[0-9]{4}$'::text),
  constraint accounts_category_check CHECK (category = ANY (ARRAY['DEPOSIT'::text, 'LOAN'::text, 'CREDIT'::text, 'INVESTMENT'::text, 'INTERNAL'::text])),
  constraint accounts_closed_by_operator CHECK (closed OR NOT closed_by_operator),
  constraint accounts_credit_limit_check CHECK (credit_limit >= 0),
  constraint accounts_credit_limit_of_credit CHECK (credit_limit = 0 OR category = 'CREDIT'::text),
  constraint accounts_currency_check CHECK (currency ~ '^[A-Z]{3}$'::text),
  constraint accounts_internal CHECK ((purpose IS NOT NULL) = (category = 'INTERNAL'::text)),
  constraint accounts_one_owner CHECK ((customer_key IS NULL) = (purpose IS NOT NULL)),
  constraint accounts_operator_restriction_check CHECK (operator_restriction = ANY (ARRAY['EXCLUDE_ALL'::text, 'EXCLUDE_AS_FROM'::text, 'EXCLUDE_AS_TO'::text])),
  constraint accounts_overdraft_limit_check CHECK (overdraft_limit >= 0),
  constraint accounts_overdraft_of_deposit CHECK (overdraft_limit = 0 OR category = 'DEPOSIT'::text),
  constraint accounts_purpose_check CHECK (purpose = ANY (ARRAY['FUNDING'::text, 'CORE_SETTLEMENT'::text, 'SUSPENSE'::text, 'CORE_CARD'::text, 'CORE_ACH'::text, 'CORE_CHECK'::text, 'CORE_FEE'::text, 'CORE_INTEREST'::text, 'CORE_DIVIDEND'::text, 'CORE_ATM'::text, 'CORE_TELLER'::text, 'CORE_WIRE'::text, 'CORE_LOAN_PAYMENT'::text, 'CORE_TRANSFER'::text, 'CORE_ADJUSTMENT'::text])),
  constraint accounts_transfer_restriction_check CHECK (transfer_restriction = ANY (ARRAY['EXCLUDE_ALL'::text, 'EXCLUDE_AS_FROM'::text, 'EXCLUDE_AS_TO'::text]))
);
CREATE INDEX accounts_by_class ON accounts USING btree (institution_id, di_account_type, currency, account_key) WHERE (purpose IS NULL);
CREATE INDEX accounts_by_customer ON accounts USING btree (institution_id, customer_key);
CREATE UNIQUE INDEX accounts_one_of_a_purpose ON accounts USING btree (institution_id, purpose, currency) WHERE (purpose IS NOT NULL);
CREATE INDEX accounts_restricted ON accounts USING btree (institution_id, account_key) WHERE (operator_restriction IS NOT NULL);
comment on table accounts is 'Accounts of memberships, and internal accounts of the institution.';
comment on column accounts.account_id is 'Id in the core system.';
comment on column accounts.purpose is 'Of an internal account. FUNDING pays opening deposits, CORE_SETTLEMENT is the other side of changes that the core reports.';
comment on column accounts.di_account_type is 'Account type in the vocabulary of Digital Insight.';
comment on column accounts.delinquent is 'A loan whose payment is overdue.';
comment on column accounts.transfer_restriction is 'Transfers that the core excludes.';
comment on column accounts.overdraft_limit is 'How far below zero a deposit may go, in minor units.';
comment on column accounts.credit_limit is 'How far below zero a line of credit may go, in minor units.';
comment on column accounts.operator_restriction is 'Transfers that an operator excludes, beside those of the core.';
comment on column accounts.closed_by_operator is 'An operator closed it for good. No import opens it again.';

create table holders (
  institution_id  integer not null,
  account_key     bigint not null,
  person_key      bigint not null,
  role            text not null,
  may_pay         boolean not null,
  constraint holders_pkey PRIMARY KEY (institution_id, account_key, person_key),
  constraint holders_institution_id_account_key_fkey FOREIGN KEY (institution_id, account_key) REFERENCES accounts(institution_id, account_key),
  constraint holders_institution_id_person_key_fkey FOREIGN KEY (institution_id, person_key) REFERENCES persons(institution_id, person_key),
  constraint holders_role_check CHECK (role = ANY (ARRAY['PRIMARY'::text, 'JOINT'::text, 'AUTHORIZED_SIGNER'::text]))
);
CREATE INDEX holders_by_person ON holders USING btree (institution_id, person_key);
comment on table holders is 'The persons who see an account.';
comment on column holders.may_pay is 'May also order transfers from the account.';

create table loans (
  institution_id    integer not null,
  account_key       bigint not null,
  accrued_interest  bigint not null,
  fees_due          bigint not null,
  amount_due        bigint not null default 0,
  next_due_on       date,
  constraint loans_pkey PRIMARY KEY (institution_id, account_key),
  constraint loans_institution_id_account_key_fkey FOREIGN KEY (institution_id, account_key) REFERENCES accounts(institution_id, account_key),
  constraint loans_accrued_interest_check CHECK (accrued_interest >= 0),
  constraint loans_amount_due_check CHECK (amount_due >= 0),
  constraint loans_fees_due_check CHECK (fees_due >= 0)
);
comment on table loans is 'The parts of a loan''s debt. The debt is the account''s balance (ADR 2): principal = debt - interest - fees, payoff = debt.';
comment on column loans.amount_due is 'Payment that brings the loan into good standing; it clears delinquent.';
comment on column loans.next_due_on is 'The day on which the amount due is to be paid, as the core states it.';

-- ---------------------------------------------------------------------------------------------------------
-- ledger

create sequence posting_keys as bigint increment by 1000;

create table balances (
  institution_id   integer not null,
  account_key      bigint not null,
  account_id       text collate "C" not null,
  currency         text collate "C" not null,
  posted           bigint not null,
  debits_pending   bigint not null,
  credits_pending  bigint not null,
  seq              bigint not null,
  last_at          timestamp with time zone not null,
  closed           boolean not null default false,
  constraint balances_pkey PRIMARY KEY (institution_id, account_key),
  constraint balances_institution_id_account_id_key UNIQUE (institution_id, account_id),
  constraint balances_closed CHECK (NOT closed OR posted = 0 AND debits_pending = 0 AND credits_pending = 0),
  constraint balances_credits_pending_check CHECK (credits_pending >= 0),
  constraint balances_debits_pending_check CHECK (debits_pending >= 0),
  constraint balances_seq_check CHECK (seq >= 0)
) with (fillfactor=80);
comment on table balances is 'The balance of each account, equal to its newest entry.';
comment on column balances.posted is 'Sum of the amounts of the account''s entries.';
comment on column balances.debits_pending is 'Sum of pending transfers from the account.';
comment on column balances.credits_pending is 'Sum of pending transfers to the account.';
comment on column balances.seq is 'Number of the newest entry; 0 before the first.';
comment on column balances.last_at is 'Time of the newest entry.';
comment on column balances.closed is 'An operator closed the account, so nothing moves on it any more.';

create table entries (
  institution_id         integer not null,
  account_key            bigint not null,
  seq                    bigint not null,
  posting_key            bigint not null,
  kind                   text not null,
  amount                 bigint not null,
  posted_after           bigint not null,
  debits_pending_after   bigint not null,
  credits_pending_after  bigint not null,
  floor                  bigint,
  ceiling                bigint,
  recorded_at            timestamp with time zone not null,
  constraint entries_pkey PRIMARY KEY (institution_id, account_key, seq),
  constraint entries_amount CHECK (
CASE
    WHEN kind = ANY (ARRAY['HOLD'::text, 'RELEASE'::text, 'CORE_HOLD'::text, 'CORE_RELEASE'::text]) THEN amount = 0
    ELSE amount <> 0
END),
  constraint entries_ceiling CHECK (ceiling IS NULL OR (posted_after + credits_pending_after) <= ceiling),
  constraint entries_credits_pending_after_check CHECK (credits_pending_after >= 0),
  constraint entries_debits_pending_after_check CHECK (debits_pending_after >= 0),
  constraint entries_floor CHECK (floor IS NULL OR (posted_after - debits_pending_after) >= floor),
  constraint entries_kind_check CHECK (kind = ANY (ARRAY['OPENING'::text, 'ADJUSTMENT'::text, 'TRANSFER'::text, 'HOLD'::text, 'RELEASE'::text, 'CORE'::text, 'CORE_HOLD'::text, 'CORE_RELEASE'::text])),
  constraint entries_seq_check CHECK (seq > 0)
);
comment on table entries is 'The journal: every change of a balance, never changed or deleted.';
comment on column entries.seq is 'Number of the entry in its account, from 1 without a gap.';
comment on column entries.posting_key is 'Common to the two entries of a posting: the key of the transfer, if one ordered it.';
comment on column entries.kind is 'OPENING and ADJUSTMENT come from the core''s extract and CORE from its postings; TRANSFER posts an order; HOLD, RELEASE, CORE_HOLD and CORE_RELEASE change only pending amounts.';
comment on column entries.posted_after is 'The balance with this entry.';
comment on column entries.floor is 'Least available balance that the order allowed. Null: no bound.';
comment on column entries.ceiling is 'Greatest balance that the order allowed. Null: no bound.';

create table loan_payments (
  institution_id  integer not null,
  account_key     bigint not null,
  seq             bigint not null,
  to_fees         bigint not null,
  to_interest     bigint not null,
  to_principal    bigint not null,
  to_due          bigint not null,
  constraint loan_payments_pkey PRIMARY KEY (institution_id, account_key, seq),
  constraint loan_payments_one_direction CHECK (to_fees >= 0 AND to_interest >= 0 AND to_principal >= 0 AND to_due >= 0 OR to_fees <= 0 AND to_interest <= 0 AND to_principal <= 0 AND to_due <= 0)
);
comment on table loan_payments is 'The split of a loan payment, beside its entry. A reversal has all parts negative.';
comment on column loan_payments.to_due is 'Part of the payment that reduced loans.amount_due.';

create unlogged table control_totals (
  transaction  xid8 not null,
  total        numeric not null,
  constraint control_totals_pkey PRIMARY KEY (transaction)
);
comment on table control_totals is 'One row a transaction that writes entries or transfers, deleted at commit. Only triggers write it. Unlogged: no row outlives its transaction.';
comment on column control_totals.total is 'Entries add their control number, transfers subtract it; 0 at commit.';

create type balance_change as (
  account_key      bigint,
  posted           bigint,
  debits_pending   bigint,
  credits_pending  bigint,
  seq              bigint,
  last_at          timestamp with time zone
);

create type new_entry as (
  account_key            bigint,
  seq                    bigint,
  posting_key            bigint,
  kind                   text,
  amount                 bigint,
  posted_after           bigint,
  debits_pending_after   bigint,
  credits_pending_after  bigint,
  floor                  bigint,
  ceiling                bigint,
  recorded_at            timestamp with time zone
);

-- ---------------------------------------------------------------------------------------------------------
-- transfers

create table transfers (
  institution_id              integer not null,
  transfer_key                bigint not null,
  transfer_id                 text collate "C" not null,
  transfer_type               text,
  from_account_id             text collate "C" not null,
  to_account_id               text collate "C" not null,
  from_key                    bigint,
  to_key                      bigint,
  amount                      bigint not null,
  currency                    text collate "C" not null,
  status                      text not null,
  failure_code                text,
  failure_detail              text,
  exceeded_limit              jsonb,
  payment_option              text,
  previous_year_contribution  boolean,
  memo                        text,
  reverses_key                bigint,
  client_id                   text collate "C",
  user_key                    bigint,
  operator                    text,
  address                     inet,
  request_id                  text collate "C",
  created_at                  timestamp with time zone not null,
  settled_at                  timestamp with time zone,
  list_class                  smallint not null,
  constraint transfers_pkey PRIMARY KEY (institution_id, transfer_key),
  constraint transfers_amount_check CHECK (amount > 0),
  constraint transfers_currency_check CHECK (currency ~ '^[A-Z]{3}$'::text),
  constraint transfers_exceeded_limit CHECK (exceeded_limit IS NULL OR failure_code = 'limit_exceeded'::text),
  constraint transfers_failure CHECK ((status = 'FAILED'::text) = (failure_code IS NOT NULL)),
  constraint transfers_failure_detail CHECK ((failure_code IS NULL) = (failure_detail IS NULL)),
  constraint transfers_memo_check CHECK (length(memo) <= 140 AND memo ~ '\S'::text AND memo !~ '[[:cntrl:]\u00AD\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]'::text),
  constraint transfers_operator_check CHECK (operator <> ''::text),
  constraint transfers_ordered_by CHECK (client_id IS NOT NULL OR operator IS NOT NULL),
  constraint transfers_payment_option_check CHECK (payment_option = ANY (ARRAY['DEFAULT'::text, 'PRINCIPAL_ONLY'::text, 'INTEREST_ONLY'::text, 'EXCESS_TO_PRINCIPAL'::text])),
  constraint transfers_request_id_check CHECK (request_id ~ '^[!-~]{1,128}$'::text),
  constraint transfers_resolved CHECK (status = 'FAILED'::text OR from_key IS NOT NULL AND to_key IS NOT NULL AND from_key <> to_key AND transfer_type IS NOT NULL),
  constraint transfers_settled CHECK ((status = 'PENDING'::text) = (settled_at IS NULL)),
  constraint transfers_source CHECK (from_key IS NOT NULL),
  constraint transfers_status_check CHECK (status = ANY (ARRAY['PENDING'::text, 'COMPLETED'::text, 'FAILED'::text])),
  constraint transfers_transfer_id_check CHECK (length(transfer_id) <= 64 AND transfer_id ~ '^[A-Za-z0-9][A-Za-z0-9._:-]*$'::text),
  constraint transfers_transfer_type_check CHECK (transfer_type = ANY (ARRAY['STANDARD'::text, 'CROSS_MEMBER'::text, 'IRA_CONTRIBUTION'::text, 'LOAN_PAYMENT'::text, 'INTRA_FI'::text]))
);
CREATE INDEX transfers_by_destination ON transfers USING btree (institution_id, to_key, list_class, created_at, transfer_key) WHERE (to_key IS NOT NULL);
CREATE INDEX transfers_by_source ON transfers USING btree (institution_id, from_key, list_class, created_at, transfer_key) WHERE (from_key IS NOT NULL);
CREATE INDEX transfers_by_user ON transfers USING btree (institution_id, user_key, list_class, created_at, transfer_key) WHERE (user_key IS NOT NULL);
CREATE INDEX transfers_listed ON transfers USING btree (institution_id, list_class, created_at, transfer_key) WHERE (transfer_key > 0);
CREATE UNIQUE INDEX transfers_reversed_once ON transfers USING btree (institution_id, reverses_key) WHERE ((reverses_key IS NOT NULL) AND (status <> 'FAILED'::text));
comment on table transfers is 'Every transfer that was ordered, declined ones included. A final row never changes.';
comment on column transfers.transfer_id is 'Id given by the caller or derived from its idempotency key.';
comment on column transfers.from_account_id is 'As ordered.';
comment on column transfers.to_account_id is 'As ordered; a declined transfer may name an account that does not exist.';
comment on column transfers.failure_detail is 'The sentence in the first response; a repeated order gets the same.';
comment on column transfers.exceeded_limit is 'The limit in the first response; a repeated order gets the same.';
comment on column transfers.previous_year_contribution is 'An IRA contribution for the tax year before.';
comment on column transfers.reverses_key is 'The completed transfer that this one reverses.';
comment on column transfers.client_id is 'The client that ordered it. Null: an operator did.';
comment on column transfers.user_key is 'The member who ordered it, if the token was a member''s.';
comment on column transfers.operator is 'The operator of the last act: an approval, a decline or a reversal.';
comment on column transfers.address is 'Address of the request that ordered it. Null for a command.';
comment on column transfers.request_id is 'Id of the request or command that ordered it.';
comment on column transfers.settled_at is 'Moment at which the transfer became final.';
comment on column transfers.list_class is 'PENDING 0, COMPLETED 10, FAILED 20, plus 1 to 5 for the type; 0 if declined before its type was known.';

create table idempotency_keys (
  institution_id  integer not null,
  transfer_id     text collate "C" not null,
  transfer_key    bigint not null,
  constraint idempotency_keys_pkey PRIMARY KEY (institution_id, transfer_id)
);
comment on table idempotency_keys is 'Every transfer id ever used, once. Apart from transfers, so that those can be partitioned by time.';

create table pending_transfers (
  institution_id    integer not null,
  transfer_key      bigint not null,
  held_for          text not null,
  due_at            timestamp with time zone not null,
  when_due          text not null,
  approvals_needed  smallint not null,
  not_before        timestamp with time zone,
  constraint pending_transfers_pkey PRIMARY KEY (institution_id, transfer_key),
  constraint pending_transfers_approvals_needed_check CHECK (approvals_needed >= 0 AND approvals_needed <= 2),
  constraint pending_transfers_core CHECK (held_for <> 'CORE'::text OR when_due = 'EXPIRE'::text),
  constraint pending_transfers_cut_off CHECK (held_for <> 'CUT_OFF'::text OR approvals_needed = 0 AND when_due = 'POST'::text),
  constraint pending_transfers_held_for_check CHECK (held_for = ANY (ARRAY['REVIEW'::text, 'CUT_OFF'::text, 'CORE'::text])),
  constraint pending_transfers_not_before CHECK (when_due = 'EXPIRE'::text OR not_before IS NULL OR due_at >= not_before),
  constraint pending_transfers_when_due_check CHECK (when_due = ANY (ARRAY['POST'::text, 'EXPIRE'::text]))
);
CREATE INDEX pending_transfers_due ON pending_transfers USING btree (institution_id, due_at);
comment on table pending_transfers is 'The terms of each PENDING transfer. The row is deleted when the transfer is final.';
comment on column pending_transfers.held_for is 'REVIEW: approvals by operators. CUT_OFF: the next business day. CORE: the outcome of its instruction.';
comment on column pending_transfers.when_due is 'Outcome if nothing happens until due_at.';
comment on column pending_transfers.not_before is 'An approved transfer posts at this time at the earliest.';

create table transfer_approvals (
  institution_id  integer not null,
  transfer_key    bigint not null,
  operator        text not null,
  approved_at     timestamp with time zone not null,
  sudo_user       text,
  constraint transfer_approvals_pkey PRIMARY KEY (institution_id, transfer_key, operator),
  constraint transfer_approvals_operator_check CHECK (operator <> ''::text),
  constraint transfer_approvals_sudo_user_check CHECK (sudo_user <> ''::text)
);
comment on table transfer_approvals is 'Approvals of transfers under review, one a person.';
comment on column transfer_approvals.sudo_user is 'SUDO_USER of the approver. It shows that two system users are one person, and never that they are two.';

create table transfer_id_prefixes (
  institution_id  integer not null,
  prefix          text collate "C" not null,
  client_id       text collate "C" not null,
  constraint transfer_id_prefixes_pkey PRIMARY KEY (institution_id, prefix),
  constraint transfer_id_prefixes_institution_id_client_id_fkey FOREIGN KEY (institution_id, client_id) REFERENCES clients(institution_id, client_id),
  constraint transfer_id_prefixes_prefix_check CHECK (prefix ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{1,31}$'::text AND prefix ~ '[^0-9a-f-]'::text AND NOT starts_with(prefix, 'key:'::text) AND NOT starts_with('key:'::text, prefix))
);
CREATE INDEX transfer_id_prefixes_by_client ON transfer_id_prefixes USING btree (institution_id, client_id);
comment on table transfer_id_prefixes is 'Prefixes of transfer ids reserved for one client. Transfer ids are one namespace in an institution (ADR 19).';

create type new_transfer as (
  transfer_key                bigint,
  transfer_id                 text,
  transfer_type               text,
  from_account_id             text,
  to_account_id               text,
  from_key                    bigint,
  to_key                      bigint,
  amount                      bigint,
  currency                    text,
  status                      text,
  failure_code                text,
  failure_detail              text,
  client_id                   text,
  user_key                    bigint,
  payment_option              text,
  previous_year_contribution  boolean,
  reverses_key                bigint,
  operator                    text,
  address                     inet,
  request_id                  text,
  memo                        text,
  exceeded_limit              jsonb
);

-- ---------------------------------------------------------------------------------------------------------
-- transfer rules

create table transfer_policies (
  institution_id         integer not null,
  transfer_type          text not null,
  currency               text collate "C" not null,
  review_above           bigint,
  second_approval_above  bigint,
  review_seconds         integer,
  on_review_timeout      text,
  cut_off                time(0) without time zone,
  payment_options        text[] not null,
  core_policy            text not null default 'WAIT'::text,
  memo_up_to             bigint,
  core_wait_seconds      integer not null default 86400,
  stand_in               text not null default 'WAIT'::text,
  constraint transfer_policies_pkey PRIMARY KEY (institution_id, transfer_type, currency),
  constraint transfer_policies_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint transfer_policies_core_policy_check CHECK (core_policy = ANY (ARRAY['WAIT'::text, 'MEMO'::text])),
  constraint transfer_policies_core_wait_seconds_check CHECK (core_wait_seconds >= 1 AND core_wait_seconds <= 2592000),
  constraint transfer_policies_currency_check CHECK (currency ~ '^[A-Z]{3}$'::text),
  constraint transfer_policies_memo CHECK (memo_up_to IS NULL OR core_policy = 'MEMO'::text),
  constraint transfer_policies_memo_up_to_check CHECK (memo_up_to >= 0),
  constraint transfer_policies_on_review_timeout_check CHECK (on_review_timeout = ANY (ARRAY['POST'::text, 'EXPIRE'::text])),
  constraint transfer_policies_payment_options_check CHECK (payment_options <@ ARRAY['DEFAULT'::text, 'PRINCIPAL_ONLY'::text, 'INTEREST_ONLY'::text, 'EXCESS_TO_PRINCIPAL'::text] AND ('DEFAULT'::text = ANY (payment_options))),
  constraint transfer_policies_review CHECK (num_nonnulls(review_above, review_seconds, on_review_timeout) = ANY (ARRAY[0, 3])),
  constraint transfer_policies_review_above_check CHECK (review_above >= 0),
  constraint transfer_policies_review_seconds_check CHECK (review_seconds >= 1 AND review_seconds <= 2592000),
  constraint transfer_policies_second_approval CHECK (second_approval_above IS NULL OR review_above IS NOT NULL),
  constraint transfer_policies_second_approval_above CHECK (second_approval_above >= review_above),
  constraint transfer_policies_stand_in_check CHECK (stand_in = ANY (ARRAY['WAIT'::text, 'DECLINE'::text])),
  constraint transfer_policies_transfer_type_check CHECK (transfer_type = ANY (ARRAY['STANDARD'::text, 'CROSS_MEMBER'::text, 'IRA_CONTRIBUTION'::text, 'LOAN_PAYMENT'::text, 'INTRA_FI'::text]))
);
comment on table transfer_policies is 'Review, cut-off and payment options by transfer type and currency.';
comment on column transfer_policies.review_above is 'A transfer of more is held for review.';
comment on column transfer_policies.second_approval_above is 'A transfer of more needs two approvals. Any such policy turns dual control on.';
comment on column transfer_policies.review_seconds is 'Longest time of a review.';
comment on column transfer_policies.on_review_timeout is 'Outcome of a review that runs out of time.';
comment on column transfer_policies.cut_off is 'A transfer ordered later on a business day, or on any other day, is processed on the next business day.';
comment on column transfer_policies.core_policy is 'WAIT: a transfer completes when the core accepts it. MEMO: within one membership it completes at once.';
comment on column transfer_policies.memo_up_to is 'A larger transfer waits. Null: MEMO counts for any amount.';
comment on column transfer_policies.core_wait_seconds is 'A transfer that was not delivered to the core in this time fails.';
comment on column transfer_policies.stand_in is 'Outcome of an order above the stand-in limits while the core is away.';

create table limit_keys (
  institution_id  integer not null,
  limit_key       integer not null,
  counts          text collate "C" not null,
  constraint limit_keys_pkey PRIMARY KEY (institution_id, limit_key),
  constraint limit_keys_institution_id_limit_key_counts_key UNIQUE (institution_id, limit_key, counts),
  constraint limit_keys_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint limit_keys_limit_key_check CHECK (limit_key > 0)
);
comment on table limit_keys is 'The meaning of each limit number: a number never counts something else, also after its limit was removed.';
comment on column limit_keys.counts is 'Subject, period, transfer type, source type and currency.';

create table transfer_limits (
  institution_id    integer not null,
  limit_key         integer not null,
  subject           text not null,
  period            text not null,
  transfer_type     text,
  source_type       text,
  currency          text collate "C" not null,
  max_per_transfer  bigint,
  max_amount        bigint,
  max_count         integer,
  review_above      bigint,
  counts            text collate "C" not null generated always as (((((((((subject || ' '::text) || period) || ' '::text) || COALESCE(transfer_type, ''::text)) || ' '::text) || COALESCE(source_type, ''::text)) || ' '::text) || currency)) stored,
  constraint transfer_limits_pkey PRIMARY KEY (institution_id, limit_key),
  constraint transfer_limits_counts FOREIGN KEY (institution_id, limit_key, counts) REFERENCES limit_keys(institution_id, limit_key, counts),
  constraint transfer_limits_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint transfer_limits_any CHECK (num_nonnulls(max_per_transfer, max_amount, max_count, review_above) > 0),
  constraint transfer_limits_currency_check CHECK (currency ~ '^[A-Z]{3}$'::text),
  constraint transfer_limits_limit_key_check CHECK (limit_key > 0),
  constraint transfer_limits_max_amount_check CHECK (max_amount >= 0),
  constraint transfer_limits_max_count_check CHECK (max_count >= 0),
  constraint transfer_limits_max_per_transfer_check CHECK (max_per_transfer >= 0),
  constraint transfer_limits_period_check CHECK (period = ANY (ARRAY['DAY'::text, 'MONTH'::text])),
  constraint transfer_limits_review_above_check CHECK (review_above >= 0),
  constraint transfer_limits_reviewed CHECK (review_above < max_amount),
  constraint transfer_limits_stand_in CHECK (subject !~~ 'STAND_IN%'::text OR period = 'DAY'::text AND review_above IS NULL),
  constraint transfer_limits_subject_check CHECK (subject = ANY (ARRAY['USER'::text, 'CUSTOMER'::text, 'ACCOUNT'::text, 'STAND_IN'::text, 'STAND_IN_ACCOUNT'::text])),
  constraint transfer_limits_transfer_type_check CHECK (transfer_type = ANY (ARRAY['STANDARD'::text, 'CROSS_MEMBER'::text, 'IRA_CONTRIBUTION'::text, 'LOAN_PAYMENT'::text, 'INTRA_FI'::text]))
);
comment on table transfer_limits is 'Limits by day or month, of a user, a membership or one account.';
comment on column transfer_limits.subject is 'Transfers that count together. STAND_IN: those of the institution that complete while its core is away; STAND_IN_ACCOUNT: those from one account.';
comment on column transfer_limits.transfer_type is 'Null: all types.';
comment on column transfer_limits.source_type is 'Counts only transfers from accounts of this type. Null: all.';
comment on column transfer_limits.review_above is 'Total of the period above which each further transfer is held for review.';

create table limit_counters (
  institution_id  integer not null,
  limit_key       integer not null,
  subject_key     bigint not null,
  period_start    date not null,
  amount          bigint not null,
  transfers       integer not null,
  max_amount      bigint,
  max_transfers   integer,
  reviewed        bigint not null default 0,
  review_above    bigint,
  constraint limit_counters_pkey PRIMARY KEY (institution_id, limit_key, subject_key, period_start),
  constraint limit_counters_amount CHECK (max_amount IS NULL OR amount <= max_amount),
  constraint limit_counters_amount_check CHECK (amount >= 0),
  constraint limit_counters_reviewed CHECK (review_above IS NULL OR (amount - reviewed) <= review_above),
  constraint limit_counters_reviewed_check CHECK (reviewed >= 0),
  constraint limit_counters_transfers CHECK (max_transfers IS NULL OR transfers <= max_transfers),
  constraint limit_counters_transfers_check CHECK (transfers >= 0)
) with (fillfactor=80);
CREATE INDEX limit_counters_by_period ON limit_counters USING btree (institution_id, period_start) WHERE (limit_key > 0);
comment on table limit_counters is 'Use of each limit by subject and period. Bounds are those of the last counted order.';
comment on column limit_counters.limit_key is '0: the yearly limit on IRA contributions, whose subject is a person.';
comment on column limit_counters.reviewed is 'The part of amount that was held for review.';

create table limit_uses (
  institution_id  integer not null,
  transfer_key    bigint not null,
  limit_key       integer not null,
  subject_key     bigint not null,
  period_start    date not null,
  amount          bigint not null,
  constraint limit_uses_pkey PRIMARY KEY (institution_id, transfer_key, limit_key, subject_key),
  constraint limit_uses_amount_check CHECK (amount > 0)
);
CREATE INDEX limit_uses_by_counter ON limit_uses USING btree (institution_id, limit_key, subject_key, period_start);
comment on table limit_uses is 'Counted amounts that may have to be released: of pending transfers, and of IRA contributions that can be reversed.';

create table business_days (
  institution_id  integer not null,
  day             date not null,
  open            boolean not null,
  constraint business_days_pkey PRIMARY KEY (institution_id, day),
  constraint business_days_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id)
);
comment on table business_days is 'Exceptions to the calendar of the Federal Reserve.';

create table contribution_limits (
  institution_id  integer not null,
  tax_year        smallint not null,
  base            bigint not null,
  catch_up        bigint not null,
  filing_date     date,
  constraint contribution_limits_pkey PRIMARY KEY (institution_id, tax_year),
  constraint contribution_limits_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint contribution_limits_base_check CHECK (base >= 0),
  constraint contribution_limits_catch_up_check CHECK (catch_up >= 0),
  constraint contribution_limits_filing_date CHECK (EXTRACT(year FROM filing_date) = (tax_year + 1)::numeric),
  constraint contribution_limits_tax_year_check CHECK (tax_year >= 1975 AND tax_year <= 2999)
);
comment on table contribution_limits is 'Corrections of the built-in yearly limits of IRA contributions, in minor units of the institution''s currency.';
comment on column contribution_limits.catch_up is 'Additional amount from the age of 50.';
comment on column contribution_limits.filing_date is 'Last day for contributions to this year, if it is not the usual one: Patriots'' Day moves it in Maine and Massachusetts.';

create table proposals (
  institution_id  integer not null,
  proposal_key    bigint not null generated always as identity,
  kind            text not null,
  subject         text collate "C" not null,
  proposed_by     text not null,
  proposed_sudo   text,
  proposed_at     timestamp with time zone not null,
  expires_at      timestamp with time zone not null,
  confirmed_by    text,
  confirmed_sudo  text,
  confirmed_at    timestamp with time zone,
  confirmed_xid   xid8,
  account_id      text collate "C",
  currency        text collate "C",
  amount          bigint,
  constraint proposals_pkey PRIMARY KEY (institution_id, proposal_key),
  constraint proposals_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint proposals_amount_check CHECK (amount <> 0),
  constraint proposals_confirmation CHECK (num_nonnulls(confirmed_by, confirmed_at, confirmed_xid) = ANY (ARRAY[0, 3])),
  constraint proposals_confirmed_by_check CHECK (confirmed_by <> ''::text),
  constraint proposals_confirmed_in_time CHECK (confirmed_at < expires_at),
  constraint proposals_confirmed_sudo_check CHECK (confirmed_sudo <> ''::text),
  constraint proposals_kind_check CHECK (kind = ANY (ARRAY['REVERSAL'::text, 'RULES'::text, 'ADJUSTMENT'::text])),
  constraint proposals_money CHECK ((num_nonnulls(account_id, currency, amount) = ANY (ARRAY[0, 3])) AND (kind = 'ADJUSTMENT'::text OR amount IS NULL)),
  constraint proposals_proposed_by_check CHECK (proposed_by <> ''::text),
  constraint proposals_proposed_sudo_check CHECK (proposed_sudo <> ''::text),
  constraint proposals_subject_check CHECK (length(subject) >= 1 AND length(subject) <= 64),
  constraint proposals_three_days CHECK (EXTRACT(epoch FROM expires_at - proposed_at) >= 1::numeric AND EXTRACT(epoch FROM expires_at - proposed_at) <= 259200::numeric)
);
CREATE INDEX proposals_by_subject ON proposals USING btree (institution_id, kind, subject);
comment on table proposals is 'Dual control: one operator proposes a reversal, an adjustment or a change of rules, another confirms it with the same command and content.';
comment on column proposals.subject is 'Id of the transfer to reverse, key of the break to adjust, or SHA-256 of the rules in hex.';
comment on column proposals.confirmed_xid is 'The transaction that confirmed it.';
comment on column proposals.account_id is 'The account to adjust. Null for any other act.';
comment on column proposals.currency is 'Of the amount.';
comment on column proposals.amount is 'The amount that the adjustment adds to the account: the difference that the first person saw.';

create type counter_state as (
  limit_key      integer,
  subject_key    bigint,
  period_start   date,
  amount         bigint,
  transfers      integer,
  max_amount     bigint,
  max_transfers  integer,
  reviewed       bigint,
  review_above   bigint
);

-- ---------------------------------------------------------------------------------------------------------
-- events

create table event_epochs (
  institution_id  integer not null,
  epoch           integer not null,
  started_at      timestamp with time zone not null,
  last_before     xid8,
  constraint event_epochs_pkey PRIMARY KEY (institution_id, epoch),
  constraint event_epochs_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint event_epochs_epoch_check CHECK (epoch > 0)
);
comment on table event_epochs is 'Transactions are numbered by the cluster. After a restore or a fail-over the numbers may repeat, and a new epoch begins.';
comment on column event_epochs.last_before is 'Last transaction of the epoch before that was kept. A later position refers to a lost event. Null: none was lost.';

create table event_timeline (
  only_row           boolean not null default true,
  timeline           text not null,
  first_transaction  xid8 not null default '3'::xid8,
  constraint event_timeline_pkey PRIMARY KEY (only_row),
  constraint event_timeline_only_row_check CHECK (only_row)
);
comment on table event_timeline is 'The cluster and its timeline on which events are written. Another one begins a new epoch.';
comment on column event_timeline.first_transaction is 'The first transaction of the service on the timeline.';

create table audit_entries (
  institution_id  integer not null,
  audit_key       bigint not null generated always as identity,
  recorded_at     timestamp with time zone not null,
  action          text not null,
  outcome         text not null,
  reason          text,
  client_id       text collate "C",
  user_id         text collate "C",
  subject         text collate "C",
  name_hash       bytea,
  address         inet,
  operator        text,
  operator_host   text,
  sudo_user       text,
  operator_as     text,
  before_change   jsonb,
  after_change    jsonb,
  transaction_id  text collate "C" not null,
  times           integer not null,
  stated_reason   text,
  personal        jsonb,
  erased_at       timestamp with time zone,
  chain           text,
  chain_number    bigint,
  sealed_at       timestamp with time zone,
  personal_salt   bytea,
  personal_hash   bytea,
  chain_hash      bytea,
  operator_id     text collate "C",
  break_glass     boolean not null default false,
  constraint audit_entries_pkey PRIMARY KEY (institution_id, audit_key),
  constraint audit_entries_action_check CHECK (action ~ '^[a-z_]{1,30}(\.[a-z_]{1,30})?$'::text),
  constraint audit_entries_break_glass CHECK (NOT break_glass OR operator IS NOT NULL AND operator_id IS NULL),
  constraint audit_entries_chain_check CHECK (chain = ANY (ARRAY['access'::text, 'changes'::text])),
  constraint audit_entries_chain_hash_check CHECK (length(chain_hash) = 32),
  constraint audit_entries_chain_number_check CHECK (chain_number > 0),
  constraint audit_entries_erased CHECK (erased_at IS NULL OR num_nonnulls(address, name_hash, stated_reason, personal, personal_salt) = 0),
  constraint audit_entries_institution_id_check CHECK (institution_id >= 0),
  constraint audit_entries_name_hash_check CHECK (length(name_hash) = 32),
  constraint audit_entries_operator_as_check CHECK (length(operator_as) >= 1 AND length(operator_as) <= 128),
  constraint audit_entries_operator_check CHECK (length(operator) >= 1 AND length(operator) <= 128),
  constraint audit_entries_operator_host_check CHECK (length(operator_host) >= 1 AND length(operator_host) <= 128),
  constraint audit_entries_operator_id_check CHECK (operator_id ~ '^[0-9a-f-]{36}$'::text),
  constraint audit_entries_operator_known CHECK (operator IS NOT NULL OR num_nonnulls(operator_host, sudo_user, operator_as) = 0),
  constraint audit_entries_origin CHECK (num_nonnulls(address, operator) <= 1 OR operator_id IS NOT NULL AND operator IS NOT NULL),
  constraint audit_entries_outcome_check CHECK (outcome = ANY (ARRAY['succeeded'::text, 'refused'::text])),
  constraint audit_entries_personal_hash_check CHECK (length(personal_hash) = 32),
  constraint audit_entries_personal_salt_check CHECK (length(personal_salt) = 32),
  constraint audit_entries_reason_check CHECK (reason ~ '^[a-z][a-z0-9_:.-]{0,99}$'::text),
  constraint audit_entries_sealed CHECK (num_nonnulls(chain, chain_number, sealed_at, personal_hash, chain_hash) = ANY (ARRAY[0, 5])),
  constraint audit_entries_stated_reason_check CHECK (length(stated_reason) >= 1 AND length(stated_reason) <= 256),
  constraint audit_entries_subject_check CHECK (length(subject) >= 1 AND length(subject) <= 256),
  constraint audit_entries_sudo_user_check CHECK (length(sudo_user) >= 1 AND length(sudo_user) <= 128),
  constraint audit_entries_times_check CHECK (times > 0),
  constraint audit_entries_transaction_id_check CHECK (transaction_id ~ '^[!-~]{1,128}$'::text)
);
CREATE UNIQUE INDEX audit_entries_by_number ON audit_entries USING btree (institution_id, chain, chain_number) WHERE (chain_number IS NOT NULL);
CREATE INDEX audit_entries_by_subject ON audit_entries USING btree (institution_id, subject, audit_key) WHERE (subject IS NOT NULL);
CREATE INDEX audit_entries_by_time ON audit_entries USING btree (institution_id, recorded_at, audit_key);
CREATE INDEX audit_entries_by_user ON audit_entries USING btree (institution_id, user_id, audit_key) WHERE (user_id IS NOT NULL);
CREATE INDEX audit_entries_rule_changes ON audit_entries USING btree (institution_id, recorded_at, audit_key) WHERE (action = 'transfer.rules_changed'::text);
CREATE INDEX audit_entries_sign_ins ON audit_entries USING btree (institution_id, user_id, audit_key) WHERE (action = 'login'::text);
CREATE INDEX audit_entries_unsealed ON audit_entries USING btree (institution_id, audit_key) WHERE (chain_number IS NULL);
comment on table audit_entries is 'The audit trail: acts, their origin and outcome. Insert-only, and chained by hash. It holds no secret and no token. Personal data stands only in address, name_hash, stated_reason and personal.';
comment on column audit_entries.institution_id is '0 for the service as a whole: refusals before the institution was known, and acts that belong to none.';
comment on column audit_entries.reason is 'Why it was refused or how it was done, in a word of the service.';
comment on column audit_entries.subject is 'Object of the act if it is neither a client nor a user: the id of a key or token.';
comment on column audit_entries.name_hash is 'Keyed hash of a username that no user has: it may be a password typed into the wrong field.';
comment on column audit_entries.address is 'Address of the caller. Null for commands and for acts of the service itself.';
comment on column audit_entries.operator is 'The name of the signed-in operator, or the system user that ran the command.';
comment on column audit_entries.sudo_user is 'SUDO_USER, which anyone can set: recorded, and never taken as a second person.';
comment on column audit_entries.operator_as is 'A typed name, which only a demo institution accepts.';
comment on column audit_entries.before_change is 'Settings that the act replaced.';
comment on column audit_entries.after_change is 'Settings that the act wrote.';
comment on column audit_entries.times is 'Equal acts of a minute share one entry, so that refusals do not fill the disk.';
comment on column audit_entries.stated_reason is 'The reason in the words of the operator. It may name a person.';
comment on column audit_entries.personal is 'Personal data that the act changed: its members before and after. Erasable.';
comment on column audit_entries.erased_at is 'When the personal fields and their salt were erased.';
comment on column audit_entries.chain is 'access: sign-ins, refusals and reads. changes: every other act. Null until sealed.';
comment on column audit_entries.chain_number is 'Number in the chain, from 1 without a gap.';
comment on column audit_entries.personal_salt is 'Key of personal_hash. No hash of the chain contains it.';
comment on column audit_entries.personal_hash is 'HMAC-SHA-256 of the personal fields under their salt.';
comment on column audit_entries.chain_hash is 'SHA-256 of the chain hash before it and of the hash of the content. docs/audit.md describes the content.';
comment on column audit_entries.operator_id is 'The operator who was signed in; null for a system user.';
comment on column audit_entries.break_glass is 'A command of a system user in an institution that has operators.';

create type new_event as (
  kind               text,
  subject_key        bigint,
  from_key           bigint,
  from_seq           bigint,
  to_key             bigint,
  to_seq             bigint,
  data               jsonb,
  secret             bytea,
  secret_expires_at  timestamp with time zone
);

create table outbox (
  institution_id     integer not null,
  event_key          bigint not null generated always as identity,
  xid                xid8 not null default pg_current_xact_id(),
  epoch              integer not null default 0,
  kind               text not null,
  subject_key        bigint not null,
  from_key           bigint,
  from_seq           bigint,
  to_key             bigint,
  to_seq             bigint,
  data               jsonb,
  secret             bytea,
  secret_expires_at  timestamp with time zone,
  recorded_at        timestamp with time zone not null,
  constraint outbox_pkey PRIMARY KEY (institution_id, event_key),
  constraint outbox_epoch_check CHECK (epoch >= 0)
) partition by RANGE (event_key);
CREATE INDEX outbox_feed ON outbox USING btree (institution_id, epoch, xid, event_key);
CREATE INDEX outbox_of_members ON outbox USING btree (institution_id, subject_key) WHERE (kind ~~ 'member.%'::text);
CREATE INDEX outbox_secrets ON outbox USING btree (institution_id, secret_expires_at) WHERE (secret IS NOT NULL);
comment on table outbox is 'Events, each written in the commit of its change. Key order is not commit order: a reader goes by (epoch, xid, event_key) and stops below the oldest running transaction (ADR 15). Partitioned by event_key (ADR 58).';
comment on column outbox.epoch is 'Number of event_epochs that the event belongs to.';
comment on column outbox.subject_key is 'Key of the transfer or user.';
comment on column outbox.from_seq is 'Number of the entry on the source account; gapless for each account.';
comment on column outbox.to_seq is 'Number of the entry on the destination account.';
comment on column outbox.secret is 'Sealed; deleted on delivery or expiry.';

create table outbox_1 partition of outbox for values from (minvalue) to ('1000001');
comment on table outbox_1 is 'A partition of outbox: the first events.';

create table outbox_default partition of outbox default;
comment on table outbox_default is 'A partition of outbox: events beyond every partition. It is empty while the maintenance makes partitions ahead, and loses none if it does not.';

create table outbox_1000001 partition of outbox for values from ('1000001') to ('2000001');
comment on table outbox_1000001 is 'A partition of outbox: events from 1000001 on.';

-- ---------------------------------------------------------------------------------------------------------
-- core system

create table openings (
  institution_id  integer not null,
  customer_key    bigint not null,
  person_key      bigint not null,
  account_id      text collate "C" not null,
  opened_on       date not null,
  deposit         bigint not null,
  deposited_on    date,
  constraint openings_pkey PRIMARY KEY (institution_id, customer_key),
  constraint openings_institution_id_person_key_key UNIQUE (institution_id, person_key),
  constraint openings_institution_id_account_id_fkey FOREIGN KEY (institution_id, account_id) REFERENCES accounts(institution_id, account_id),
  constraint openings_institution_id_customer_key_fkey FOREIGN KEY (institution_id, customer_key) REFERENCES customers(institution_id, customer_key),
  constraint openings_institution_id_person_key_fkey FOREIGN KEY (institution_id, person_key) REFERENCES persons(institution_id, person_key),
  constraint openings_deposit_check CHECK (deposit >= 0)
);
comment on table openings is 'Memberships that were opened when their member registered.';
comment on column openings.account_id is 'The account that the deposit goes to.';
comment on column openings.deposited_on is 'Null while the deposit is due. It is paid when the member activates the login, in a demo at once.';

create table opening_counters (
  institution_id  integer not null,
  day             date not null,
  openings        integer not null,
  deposited       bigint not null,
  constraint opening_counters_pkey PRIMARY KEY (institution_id, day),
  constraint opening_counters_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint opening_counters_deposited_check CHECK (deposited >= 0),
  constraint opening_counters_openings_check CHECK (openings >= 0)
);
comment on table opening_counters is 'Openings and their deposits by day. Only a trigger writes it: no opening goes uncounted.';

create unlogged table import_runs (
  code            text collate "C" not null,
  institution_id  integer not null,
  constraint import_runs_pkey PRIMARY KEY (code),
  constraint import_runs_institution_id_key UNIQUE (institution_id)
);
comment on table import_runs is 'Running imports. A new institution''s number is reserved here, so that its rows have their number from the start.';
comment on column import_runs.code is 'institutions.code of the extract.';

create unlogged table staged_persons (
  institution_id  integer not null,
  line            integer not null,
  person_id       text collate "C" not null,
  first_name      text not null,
  last_name       text not null,
  email           text,
  phone_number    text,
  phone_type      text,
  birth_date      text,
  constraint staged_persons_pkey PRIMARY KEY (institution_id, person_id)
);
comment on table staged_persons is 'persons.csv of an import, before it is merged.';

create unlogged table staged_members (
  institution_id  integer not null,
  line            integer not null,
  customer_id     text collate "C" not null,
  member_number   text collate "C" not null,
  member_type     text not null,
  constraint staged_members_pkey PRIMARY KEY (institution_id, member_number),
  constraint staged_members_institution_id_customer_id_key UNIQUE (institution_id, customer_id)
);
comment on table staged_members is 'members.csv of an import, before it is merged.';

create unlogged table staged_member_persons (
  institution_id  integer not null,
  line            integer not null,
  member_number   text collate "C" not null,
  person_id       text collate "C" not null,
  role            text not null,
  constraint staged_member_persons_pkey PRIMARY KEY (institution_id, member_number, person_id)
);
comment on table staged_member_persons is 'member-persons.csv of an import, before it is merged.';

create unlogged table staged_accounts (
  institution_id        integer not null,
  line                  integer not null,
  account_id            text collate "C" not null,
  member_number         text collate "C" not null,
  account_number        text not null,
  di_account_type       text not null,
  category              text not null,
  description           text not null,
  currency              text collate "C" not null,
  posted                bigint not null,
  closed                boolean not null,
  delinquent            boolean not null,
  overdraft_limit       bigint not null,
  credit_limit          bigint not null,
  accrued_interest      bigint,
  fees_due              bigint,
  amount_due            bigint,
  restriction_given     boolean not null,
  transfer_restriction  text,
  due_given             boolean,
  next_due_on           date,
  constraint staged_accounts_pkey PRIMARY KEY (institution_id, account_id)
);
CREATE INDEX staged_accounts_by_member ON staged_accounts USING btree (institution_id, member_number, account_id);
comment on table staged_accounts is 'accounts.csv of an import, before it is merged.';
comment on column staged_accounts.accrued_interest is 'Null: unchanged.';
comment on column staged_accounts.fees_due is 'Null: unchanged.';
comment on column staged_accounts.restriction_given is 'The extract has a column for transfer restrictions.';
comment on column staged_accounts.due_given is 'The extract has a column for the next due date. Null from a version without it.';

create unlogged table staged_holders (
  institution_id  integer not null,
  line            integer not null,
  account_id      text collate "C" not null,
  person_id       text collate "C" not null,
  role            text not null,
  may_pay         boolean not null,
  constraint staged_holders_pkey PRIMARY KEY (institution_id, account_id, person_id)
);
comment on table staged_holders is 'holders.csv of an import, before it is merged.';

-- ---------------------------------------------------------------------------------------------------------
-- event numbers

create table event_marks (
  institution_id  integer not null,
  number          bigint not null,
  epoch           integer not null,
  xid             xid8 not null,
  event_key       bigint not null,
  constraint event_marks_pkey PRIMARY KEY (institution_id, epoch, xid, event_key),
  constraint event_marks_institution_id_number_key UNIQUE (institution_id, number),
  constraint event_marks_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint event_marks_number_check CHECK (number > 0)
);
comment on table event_marks is 'The number of every five hundredth event in the order of the feed, and of the last event in the archive.';

-- ---------------------------------------------------------------------------------------------------------
-- core connection

create table core_transactions (
  institution_id    integer not null,
  core_id           text collate "C" not null,
  account_key       bigint not null,
  seq               bigint not null,
  posting_key       bigint not null,
  settlement_key    bigint,
  amount            bigint not null,
  kind              text not null,
  posted_at         timestamp with time zone not null,
  effective_date    date not null,
  description       text not null,
  check_number      text,
  merchant          text,
  category          text,
  running_balance   bigint,
  authorization_id  text collate "C",
  is_historic       boolean not null,
  recorded_at       timestamp with time zone not null,
  constraint core_transactions_pkey PRIMARY KEY (institution_id, core_id),
  constraint core_transactions_one_of_an_entry UNIQUE (institution_id, account_key, seq),
  constraint core_transactions_amount_check CHECK (amount <> 0),
  constraint core_transactions_category_check CHECK (length(category) >= 1 AND length(category) <= 64),
  constraint core_transactions_check_number_check CHECK (length(check_number) >= 1 AND length(check_number) <= 32),
  constraint core_transactions_core_id_check CHECK (length(core_id) <= 64 AND core_id ~ '^[A-Za-z0-9][A-Za-z0-9._:-]*$'::text),
  constraint core_transactions_description_check CHECK (length(description) >= 1 AND length(description) <= 140 AND description !~ '[[:cntrl:]\u00AD\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]'::text),
  constraint core_transactions_kind_check CHECK (kind = ANY (ARRAY['CARD'::text, 'ACH_CREDIT'::text, 'ACH_DEBIT'::text, 'CHECK'::text, 'FEE'::text, 'INTEREST'::text, 'DIVIDEND'::text, 'ATM'::text, 'TELLER'::text, 'WIRE'::text, 'LOAN_PAYMENT'::text, 'TRANSFER'::text, 'ADJUSTMENT'::text])),
  constraint core_transactions_merchant_check CHECK (length(merchant) >= 1 AND length(merchant) <= 140),
  constraint core_transactions_seq_check CHECK (seq > 0)
);
CREATE INDEX core_transactions_effective ON core_transactions USING btree (institution_id, account_key, effective_date) INCLUDE (amount);
CREATE INDEX core_transactions_recorded ON core_transactions USING brin (institution_id, recorded_at) WITH (pages_per_range='32');
comment on table core_transactions is 'What the core posted: the facts beside an entry of kind CORE, or beside the entry of a transfer of which it is the echo. Insert-only; core_id is used up for ever.';
comment on column core_transactions.seq is 'Number of the entry in its account.';
comment on column core_transactions.posting_key is 'Key of the entry: of a transfer, if this is its echo.';
comment on column core_transactions.settlement_key is 'The internal account of its other side. Null for an echo.';
comment on column core_transactions.posted_at is 'Time of the posting at the core. Entries are in the order of their arrival here.';
comment on column core_transactions.running_balance is 'The balance that the core states after it.';
comment on column core_transactions.is_historic is 'Imported as history: it has no event.';

create table core_authorizations (
  institution_id     integer not null,
  authorization_id   text collate "C" not null,
  account_key        bigint not null,
  settlement_key     bigint not null,
  posting_key        bigint not null,
  held               bigint not null,
  authorized_amount  bigint,
  description        text,
  merchant           text,
  category           text,
  changed_at         timestamp with time zone not null,
  expires_at         timestamp with time zone,
  ended              text,
  recorded_at        timestamp with time zone not null,
  constraint core_authorizations_pkey PRIMARY KEY (institution_id, authorization_id),
  constraint core_authorizations_authorization_id_check CHECK (length(authorization_id) <= 64 AND authorization_id ~ '^[A-Za-z0-9][A-Za-z0-9._:-]*$'::text),
  constraint core_authorizations_authorized_amount_check CHECK (authorized_amount > 0),
  constraint core_authorizations_category_check CHECK (length(category) >= 1 AND length(category) <= 64),
  constraint core_authorizations_description_check CHECK (length(description) >= 1 AND length(description) <= 140 AND description !~ '[[:cntrl:]\u00AD\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]'::text),
  constraint core_authorizations_ended_check CHECK (ended = ANY (ARRAY['SETTLED'::text, 'RELEASED'::text, 'EXPIRED'::text])),
  constraint core_authorizations_held_check CHECK (held >= 0),
  constraint core_authorizations_hold_while_open CHECK ((ended IS NULL) = (held > 0)),
  constraint core_authorizations_merchant_check CHECK (length(merchant) >= 1 AND length(merchant) <= 140)
);
CREATE INDEX core_authorizations_expiring ON core_authorizations USING btree (institution_id, expires_at) WHERE (ended IS NULL);
CREATE INDEX core_authorizations_open ON core_authorizations USING btree (institution_id, account_key, recorded_at, posting_key) WHERE (ended IS NULL);
CREATE INDEX core_authorizations_settling ON core_authorizations USING btree (institution_id, settlement_key) WHERE (ended IS NULL);
comment on table core_authorizations is 'Pending card authorizations of the core. An open one holds its amount on the account; an ended one stays, so that news that arrive late hold nothing.';
comment on column core_authorizations.posting_key is 'Key of the entries that changed the hold last.';
comment on column core_authorizations.held is 'The amount held now; 0 after the end.';
comment on column core_authorizations.authorized_amount is 'As first announced. Null if a later news arrived alone.';
comment on column core_authorizations.changed_at is 'Time at the core of the newest news. Older ones change nothing.';
comment on column core_authorizations.recorded_at is 'When the hold began here.';

create type new_core_transaction as (
  core_id           text,
  account_key       bigint,
  seq               bigint,
  posting_key       bigint,
  settlement_key    bigint,
  amount            bigint,
  kind              text,
  posted_at         timestamp with time zone,
  effective_date    date,
  description       text,
  check_number      text,
  merchant          text,
  category          text,
  running_balance   bigint,
  authorization_id  text,
  is_historic       boolean
);

create type core_authorization_state as (
  authorization_id   text,
  account_key        bigint,
  settlement_key     bigint,
  posting_key        bigint,
  held               bigint,
  authorized_amount  bigint,
  description        text,
  merchant           text,
  category           text,
  changed_at         timestamp with time zone,
  expires_at         timestamp with time zone,
  ended              text
);

-- ---------------------------------------------------------------------------------------------------------
-- reconcile runs

create table reconcile_runs (
  institution_id    integer not null,
  started_at        timestamp with time zone not null,
  finished_at       timestamp with time zone not null,
  findings          integer not null,
  full_at           timestamp with time zone,
  checkpoint_at     timestamp with time zone,
  checkpoint_epoch  bigint,
  checkpoint_xid    xid8,
  run_key           bigint,
  constraint reconcile_runs_pkey PRIMARY KEY (institution_id),
  constraint reconcile_runs_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint reconcile_runs_checkpoint CHECK (num_nulls(checkpoint_at, checkpoint_epoch, checkpoint_xid) = ANY (ARRAY[0, 3])),
  constraint reconcile_runs_findings_check CHECK (findings >= 0)
);
comment on table reconcile_runs is 'The last complete run of reconcile of each institution.';
comment on column reconcile_runs.findings is 'Rows that break a rule.';
comment on column reconcile_runs.full_at is 'The end of the last run that checked every row. Null for runs of a version without checkpoints.';
comment on column reconcile_runs.checkpoint_at is 'The institution''s time at the start of the last run that found nothing.';
comment on column reconcile_runs.checkpoint_epoch is 'The epoch of the feed then. In another epoch the checkpoint says nothing.';
comment on column reconcile_runs.checkpoint_xid is 'The first transaction that was running then. Later events have this number or a higher one.';
comment on column reconcile_runs.run_key is 'The run with its findings. Null for one of a version that kept none.';

-- ---------------------------------------------------------------------------------------------------------
-- core instructions

create table core_instructions (
  institution_id    integer not null,
  instruction_key   bigint not null,
  sequence          bigint not null generated always as identity,
  mode              text not null,
  state             text not null,
  business_date     date not null,
  from_key          bigint not null,
  to_key            bigint not null,
  amount            bigint not null,
  currency          text collate "C" not null,
  issued_at         timestamp with time zone not null,
  delivered_at      timestamp with time zone,
  leased_by         text collate "C",
  lease_until       timestamp with time zone,
  file_number       integer,
  decided_at        timestamp with time zone,
  core_reference    text collate "C",
  refusal_code      text collate "C",
  refusal_reason    text,
  decided_by        text collate "C",
  decided_operator  text,
  decided_request   text collate "C",
  constraint core_instructions_pkey PRIMARY KEY (institution_id, instruction_key),
  constraint core_instructions_amount_check CHECK (amount > 0),
  constraint core_instructions_core_reference_check CHECK (core_reference ~ '^[!-~]{1,64}$'::text),
  constraint core_instructions_currency_check CHECK (currency ~ '^[A-Z]{3}$'::text),
  constraint core_instructions_decided CHECK ((state = 'OPEN'::text) = (decided_at IS NULL)),
  constraint core_instructions_decided_by CHECK ((state <> ALL (ARRAY['ACCEPTED'::text, 'REJECTED'::text])) OR num_nonnulls(decided_by, decided_operator) > 0),
  constraint core_instructions_decided_operator_check CHECK (decided_operator <> ''::text),
  constraint core_instructions_decided_request_check CHECK (decided_request ~ '^[!-~]{1,128}$'::text),
  constraint core_instructions_delivered CHECK (delivered_at IS NOT NULL OR num_nonnulls(leased_by, file_number) = 0),
  constraint core_instructions_file_number_check CHECK (file_number > 0),
  constraint core_instructions_lease CHECK (num_nonnulls(leased_by, lease_until) = ANY (ARRAY[0, 2])),
  constraint core_instructions_mode_check CHECK (mode = ANY (ARRAY['WAIT'::text, 'MEMO'::text, 'STAND_IN'::text])),
  constraint core_instructions_outcome CHECK (
CASE state
    WHEN 'ACCEPTED'::text THEN num_nonnulls(refusal_code, refusal_reason) = 0
    WHEN 'REJECTED'::text THEN refusal_code IS NOT NULL AND core_reference IS NULL
    ELSE num_nonnulls(core_reference, refusal_code, refusal_reason, decided_by, decided_operator) = 0
END),
  constraint core_instructions_refusal_code_check CHECK (refusal_code ~ '^[A-Za-z0-9._-]{1,64}$'::text),
  constraint core_instructions_refusal_reason_check CHECK (length(refusal_reason) >= 1 AND length(refusal_reason) <= 140),
  constraint core_instructions_state_check CHECK (state = ANY (ARRAY['OPEN'::text, 'ACCEPTED'::text, 'REJECTED'::text, 'WITHDRAWN'::text])),
  constraint core_instructions_withdrawn CHECK (state <> 'WITHDRAWN'::text OR mode = 'WAIT'::text AND delivered_at IS NULL)
) with (fillfactor=80);
CREATE INDEX core_instructions_by_decision ON core_instructions USING btree (institution_id, decided_at) WHERE (state = ANY (ARRAY['ACCEPTED'::text, 'REJECTED'::text]));
CREATE INDEX core_instructions_by_file ON core_instructions USING btree (institution_id, file_number, sequence) WHERE (file_number IS NOT NULL);
CREATE INDEX core_instructions_open ON core_instructions USING btree (institution_id, sequence) WHERE (state = 'OPEN'::text);
CREATE INDEX core_instructions_stand_in ON core_instructions USING btree (institution_id, issued_at) WHERE (mode = 'STAND_IN'::text);
CREATE INDEX core_instructions_undelivered ON core_instructions USING btree (institution_id, sequence) WHERE ((state = 'OPEN'::text) AND (delivered_at IS NULL));
comment on table core_instructions is 'One for each transfer that a core must carry out, written in the commit that holds or moves its money. Its key is the transfer''s.';
comment on column core_instructions.sequence is 'Order of delivery. Both accounts are locked when it is given, so the instructions of an account follow its entries.';
comment on column core_instructions.mode is 'WAIT: the transfer completes when the core accepts. MEMO, STAND_IN: it is complete, and a refusal reverses it.';
comment on column core_instructions.delivered_at is 'First lease or export. From then on the core may have carried it out.';
comment on column core_instructions.leased_by is 'The client that works on it until lease_until.';
comment on column core_instructions.file_number is 'The export file that contains it.';
comment on column core_instructions.decided_by is 'The client that reported the outcome; decided_operator for a file.';

create type new_instruction as (
  instruction_key  bigint,
  mode             text,
  state            text,
  business_date    date,
  from_key         bigint,
  to_key           bigint,
  amount           bigint,
  currency         text
);

create table core_connections (
  institution_id  integer not null,
  heard_at        timestamp with time zone not null,
  heard_client    text collate "C" not null,
  constraint core_connections_pkey PRIMARY KEY (institution_id)
);
comment on table core_connections is 'The last sign of life from the core of each institution. Its row also lets one connector at a time lease.';
comment on column core_connections.heard_at is 'By the clock of the service, at most a second old while requests arrive.';
comment on column core_connections.heard_client is 'The client that called.';

-- ---------------------------------------------------------------------------------------------------------
-- changes

create table changes (
  xid             xid8 not null,
  institution_id  integer not null,
  subject         integer not null,
  constraint changes_subject_check CHECK (subject >= 0 AND subject < 65536)
);
CREATE INDEX changes_by_transaction ON changes USING btree (xid);
comment on table changes is 'Things that changed, by transaction. Triggers write it, and the service reads it through changes_since() alone. Rows older than some minutes are deleted.';
comment on column changes.xid is 'The transaction of the change. Its row is visible when the change is.';
comment on column changes.subject is 'Kind and key of the thing, as note_changes() numbers them: 4,096 for each kind, and several keys share one. 0: everything of the institution.';

create table changes_kept (
  only_row   boolean not null default true,
  kept_from  xid8 not null,
  next_from  xid8 not null,
  moved_at   timestamp with time zone not null,
  constraint changes_kept_pkey PRIMARY KEY (only_row),
  constraint changes_kept_only_row_check CHECK (only_row)
);
comment on table changes_kept is 'The oldest transaction whose changes are all still in the table changes.';
comment on column changes_kept.next_from is 'The next value of kept_from; every transaction below it had ended at moved_at.';

-- ---------------------------------------------------------------------------------------------------------
-- webhooks

create table webhook_endpoints (
  institution_id   integer not null,
  endpoint_id      uuid not null,
  client_id        text collate "C",
  url              text not null,
  description      text,
  event_types      text[],
  payload          text not null,
  ordering         text not null,
  status           text not null,
  status_reason    text,
  created_at       timestamp with time zone not null,
  epoch            bigint not null,
  xid              xid8 not null,
  event_key        bigint not null,
  number           bigint not null,
  failures         integer not null default 0,
  failing_since    timestamp with time zone,
  next_attempt_at  timestamp with time zone,
  leased_by        uuid,
  lease_until      timestamp with time zone,
  transport        text not null default 'HTTPS'::text,
  constraint webhook_endpoints_pkey PRIMARY KEY (institution_id, endpoint_id),
  constraint webhook_endpoints_institution_id_client_id_fkey FOREIGN KEY (institution_id, client_id) REFERENCES clients(institution_id, client_id),
  constraint webhook_endpoints_client CHECK ((client_id IS NULL) = (transport = 'SMTP'::text)),
  constraint webhook_endpoints_description_check CHECK (length(description) >= 1 AND length(description) <= 140),
  constraint webhook_endpoints_epoch_check CHECK (epoch >= 0),
  constraint webhook_endpoints_event_key_check CHECK (event_key >= 0),
  constraint webhook_endpoints_event_types_check CHECK (cardinality(event_types) >= 1 AND cardinality(event_types) <= 100),
  constraint webhook_endpoints_failing CHECK ((failures = 0) = (failing_since IS NULL)),
  constraint webhook_endpoints_failures_check CHECK (failures >= 0),
  constraint webhook_endpoints_lease CHECK ((leased_by IS NULL) = (lease_until IS NULL)),
  constraint webhook_endpoints_number_check CHECK (number >= 0),
  constraint webhook_endpoints_ordering_check CHECK (ordering = ANY (ARRAY['ACCOUNT'::text, 'STRICT'::text])),
  constraint webhook_endpoints_payload_check CHECK (payload = ANY (ARRAY['THIN'::text, 'FULL'::text])),
  constraint webhook_endpoints_reason CHECK ((status = 'ACTIVE'::text) = (status_reason IS NULL)),
  constraint webhook_endpoints_status_check CHECK (status = ANY (ARRAY['ACTIVE'::text, 'PAUSED'::text, 'DISABLED'::text])),
  constraint webhook_endpoints_status_reason_check CHECK (status_reason = ANY (ARRAY['operator'::text, 'client'::text, 'gone'::text, 'failing'::text])),
  constraint webhook_endpoints_transport_check CHECK (transport = ANY (ARRAY['HTTPS'::text, 'SMTP'::text])),
  constraint webhook_endpoints_url_check CHECK (
CASE transport
    WHEN 'SMTP'::text THEN url = 'smtp:'::text
    ELSE length(url) <= 2048 AND url ~ '^https?://[!-~]+$'::text
END)
);
CREATE UNIQUE INDEX webhook_endpoints_mail ON webhook_endpoints USING btree (institution_id) WHERE (transport = 'SMTP'::text);
comment on table webhook_endpoints is 'Addresses to which events are sent, each with its position in the feed.';
comment on column webhook_endpoints.client_id is 'Null for mail, which no client owns.';
comment on column webhook_endpoints.event_types is 'Null: all.';
comment on column webhook_endpoints.payload is 'THIN: ids, type, sequence and time. FULL: the event as in the feed.';
comment on column webhook_endpoints.ordering is 'ACCOUNT: an event waits for earlier ones of its accounts only. STRICT: for all earlier ones.';
comment on column webhook_endpoints.number is 'Number of the last event at or before the position.';
comment on column webhook_endpoints.failures is 'Failed attempts since the last success.';
comment on column webhook_endpoints.next_attempt_at is 'While the endpoint fails, nothing is sent before this.';
comment on column webhook_endpoints.leased_by is 'The process that sends to the endpoint until lease_until.';
comment on column webhook_endpoints.transport is 'SMTP: mail to members, at most one an institution.';

create table webhook_keys (
  institution_id      integer not null,
  endpoint_id         uuid not null,
  slot                smallint not null,
  sealed_secret       bytea not null,
  sealed_private_key  bytea not null,
  public_key          text not null,
  created_at          timestamp with time zone not null,
  expires_at          timestamp with time zone,
  constraint webhook_keys_pkey PRIMARY KEY (institution_id, endpoint_id, slot),
  constraint webhook_keys_institution_id_endpoint_id_fkey FOREIGN KEY (institution_id, endpoint_id) REFERENCES webhook_endpoints(institution_id, endpoint_id) ON DELETE CASCADE,
  constraint webhook_keys_public_key_check CHECK (public_key ~ '^whpk_[A-Za-z0-9+/]{43}=$'::text),
  constraint webhook_keys_slot_check CHECK (slot = ANY (ARRAY[1, 2]))
);
comment on table webhook_keys is 'Signing keys of endpoints. Two may be valid at once, so that one can be replaced without an interruption.';
comment on column webhook_keys.sealed_secret is 'HMAC-SHA256, signature v1; AES-256-GCM under the service''s key-encryption key.';
comment on column webhook_keys.sealed_private_key is 'Ed25519, signature v1a; sealed likewise.';

create table webhook_deliveries (
  institution_id   integer not null,
  endpoint_id      uuid not null,
  number           bigint not null,
  epoch            bigint not null,
  xid              xid8 not null,
  event_key        bigint not null,
  lanes            text[] collate "C" not null,
  state            text not null,
  attempts         integer not null,
  next_attempt_at  timestamp with time zone,
  created_at       timestamp with time zone not null,
  constraint webhook_deliveries_pkey PRIMARY KEY (institution_id, endpoint_id, number),
  constraint webhook_deliveries_institution_id_endpoint_id_fkey FOREIGN KEY (institution_id, endpoint_id) REFERENCES webhook_endpoints(institution_id, endpoint_id) ON DELETE CASCADE,
  constraint webhook_deliveries_attempts_check CHECK (attempts >= 0),
  constraint webhook_deliveries_lanes_check CHECK (cardinality(lanes) > 0),
  constraint webhook_deliveries_next CHECK (state = 'WAITING'::text OR next_attempt_at IS NULL),
  constraint webhook_deliveries_number_check CHECK (number > 0),
  constraint webhook_deliveries_state_check CHECK (state = ANY (ARRAY['WAITING'::text, 'PARKED'::text]))
);
comment on table webhook_deliveries is 'Events behind the position of their endpoint that it has not accepted: they wait for another attempt, or for an earlier event of their accounts, or are parked.';
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
  attempted_at    timestamp with time zone not null,
  duration_ms     integer not null,
  delivered       boolean not null,
  status          smallint,
  error           text,
  response        text,
  constraint webhook_attempts_pkey PRIMARY KEY (institution_id, endpoint_id, attempt_key),
  constraint webhook_attempts_institution_id_endpoint_id_fkey FOREIGN KEY (institution_id, endpoint_id) REFERENCES webhook_endpoints(institution_id, endpoint_id) ON DELETE CASCADE,
  constraint webhook_attempts_duration_ms_check CHECK (duration_ms >= 0),
  constraint webhook_attempts_error_check CHECK (length(error) <= 60),
  constraint webhook_attempts_response_check CHECK (length(response) <= 1024)
);
CREATE INDEX webhook_attempts_by_success ON webhook_attempts USING btree (institution_id, endpoint_id, attempt_key) WHERE delivered;
CREATE INDEX webhook_attempts_by_time ON webhook_attempts USING btree (institution_id, attempted_at);
comment on table webhook_attempts is 'Attempts to deliver: all failures of the last thirty days, and the last hundred successes.';
comment on column webhook_attempts.response is 'The first 256 bytes of the response, escaped.';

-- ---------------------------------------------------------------------------------------------------------
-- authorization

create table member_sessions (
  institution_id    integer not null,
  session_id        uuid not null,
  secret_hash       bytea not null,
  user_key          bigint not null,
  user_epoch        integer not null,
  methods           text[] not null,
  authenticated_at  timestamp with time zone not null,
  created_at        timestamp with time zone not null,
  last_used_at      timestamp with time zone not null,
  expires_at        timestamp with time zone not null,
  ended_at          timestamp with time zone,
  address           inet,
  user_agent        text,
  host              text collate "C",
  constraint member_sessions_pkey PRIMARY KEY (institution_id, session_id),
  constraint member_sessions_by_secret UNIQUE (institution_id, secret_hash),
  constraint member_sessions_institution_id_user_key_fkey FOREIGN KEY (institution_id, user_key) REFERENCES users(institution_id, user_key),
  constraint member_sessions_lifetime CHECK (expires_at <= (created_at + '12:00:00'::interval) AND authenticated_at <= last_used_at),
  constraint member_sessions_methods_check CHECK (cardinality(methods) > 0 AND methods <@ ARRAY['pwd'::text, 'otp'::text, 'hwk'::text, 'swk'::text, 'user'::text, 'mfa'::text]),
  constraint member_sessions_secret_hash_check CHECK (length(secret_hash) = 32),
  constraint member_sessions_user_agent_check CHECK (length(user_agent) <= 256)
);
CREATE INDEX member_sessions_by_end ON member_sessions USING btree (institution_id, expires_at);
CREATE INDEX member_sessions_by_user ON member_sessions USING btree (institution_id, user_key);
comment on table member_sessions is 'Members who signed in at the service''s own pages, a row for each browser.';
comment on column member_sessions.secret_hash is 'Keyed hash of the cookie.';
comment on column member_sessions.user_epoch is 'users.token_epoch at sign-in; a later one ends the session.';
comment on column member_sessions.methods is 'How the member proved who they are (RFC 8176).';
comment on column member_sessions.host is 'The institution''s host name at which the session began; null: PUBLIC_URL. No other host accepts its cookie.';

create table consents (
  institution_id  integer not null,
  consent_id      uuid not null,
  client_id       text collate "C" not null,
  user_key        bigint not null,
  scopes          text[] not null,
  granted_at      timestamp with time zone not null,
  expires_at      timestamp with time zone not null,
  ended_at        timestamp with time zone,
  ended_by        text,
  all_accounts    boolean not null default true,
  version         integer not null default 0,
  constraint consents_pkey PRIMARY KEY (institution_id, consent_id),
  constraint consents_institution_id_client_id_fkey FOREIGN KEY (institution_id, client_id) REFERENCES clients(institution_id, client_id),
  constraint consents_institution_id_user_key_fkey FOREIGN KEY (institution_id, user_key) REFERENCES users(institution_id, user_key),
  constraint consents_ended CHECK ((ended_at IS NULL) = (ended_by IS NULL)),
  constraint consents_ended_by_check CHECK (ended_by = ANY (ARRAY['MEMBER'::text, 'OPERATOR'::text, 'REPLACED'::text])),
  constraint consents_lifetime CHECK (expires_at > granted_at AND expires_at <= (granted_at + '366 days'::interval)),
  constraint consents_scopes_check CHECK (cardinality(scopes) > 0)
);
CREATE UNIQUE INDEX consents_current ON consents USING btree (institution_id, user_key, client_id) WHERE (ended_at IS NULL);
CREATE INDEX consents_of_user ON consents USING btree (institution_id, user_key, granted_at);
comment on table consents is 'Rights that members gave to apps, each until a day.';
comment on column consents.all_accounts is 'The consent covers every account of the member, also those of later. False: those in consent_accounts.';
comment on column consents.version is 'Counts the changes of the consent and its accounts, so that an answer of before is not sent after one.';

create table authorization_grants (
  institution_id    integer not null,
  grant_id          uuid not null,
  request_id        uuid not null,
  code_hash         bytea not null,
  client_id         text collate "C" not null,
  client_epoch      integer not null,
  user_key          bigint not null,
  user_epoch        integer not null,
  session_id        uuid not null,
  consent_id        uuid,
  redirect_uri      text not null,
  scopes            text[] not null,
  nonce             text,
  code_challenge    text collate "C" not null,
  authenticated_at  timestamp with time zone not null,
  created_at        timestamp with time zone not null,
  expires_at        timestamp with time zone not null,
  exchanged_at      timestamp with time zone,
  kept_until        timestamp with time zone not null,
  key_thumbprint    text collate "C",
  methods           text[] not null default '{pwd}'::text[],
  constraint authorization_grants_pkey PRIMARY KEY (institution_id, grant_id),
  constraint authorization_grants_by_code UNIQUE (institution_id, code_hash),
  constraint authorization_grants_by_request UNIQUE (institution_id, request_id),
  constraint authorization_grants_institution_id_client_id_fkey FOREIGN KEY (institution_id, client_id) REFERENCES clients(institution_id, client_id),
  constraint authorization_grants_institution_id_consent_id_fkey FOREIGN KEY (institution_id, consent_id) REFERENCES consents(institution_id, consent_id),
  constraint authorization_grants_institution_id_user_key_fkey FOREIGN KEY (institution_id, user_key) REFERENCES users(institution_id, user_key),
  constraint authorization_grants_code_challenge_check CHECK (code_challenge ~ '^[A-Za-z0-9_-]{43}$'::text),
  constraint authorization_grants_code_hash_check CHECK (length(code_hash) = 32),
  constraint authorization_grants_key_thumbprint CHECK (key_thumbprint ~ '^[A-Za-z0-9_-]{43}$'::text),
  constraint authorization_grants_lifetime CHECK (expires_at <= (created_at + '00:01:00'::interval)),
  constraint authorization_grants_methods CHECK (cardinality(methods) > 0 AND methods <@ ARRAY['pwd'::text, 'otp'::text, 'hwk'::text, 'swk'::text, 'user'::text, 'mfa'::text]),
  constraint authorization_grants_nonce_check CHECK (length(nonce) <= 512)
);
CREATE INDEX authorization_grants_by_end ON authorization_grants USING btree (institution_id, kept_until);
CREATE INDEX authorization_grants_of_consent ON authorization_grants USING btree (institution_id, consent_id) WHERE (consent_id IS NOT NULL);
CREATE INDEX authorization_grants_of_session ON authorization_grants USING btree (institution_id, session_id);
comment on table authorization_grants is 'Grants of members to apps, one a sign-in. The code is exchanged once; the tokens that come of it carry grant_id as their sid.';
comment on column authorization_grants.kept_until is 'Until the last token that came of it has expired.';
comment on column authorization_grants.key_thumbprint is 'The key that the tokens must be bound to (RFC 9449 section 10); null: the app named none.';
comment on column authorization_grants.methods is 'How the member proved who they are (RFC 8176), for the claim amr.';

-- ---------------------------------------------------------------------------------------------------------
-- audit chain

create table audit_chains (
  institution_id  integer not null,
  chain           text not null,
  number          bigint not null,
  hash            bytea not null,
  pruned_to       bigint not null default 0,
  pruned_hash     bytea not null,
  constraint audit_chains_pkey PRIMARY KEY (institution_id, chain),
  constraint audit_chains_chain_check CHECK (chain = ANY (ARRAY['access'::text, 'changes'::text])),
  constraint audit_chains_hash_check CHECK (length(hash) = 32),
  constraint audit_chains_institution_id_check CHECK (institution_id >= 0),
  constraint audit_chains_number_check CHECK (number >= 0),
  constraint audit_chains_pruned CHECK (pruned_to <= number),
  constraint audit_chains_pruned_hash_check CHECK (length(pruned_hash) = 32),
  constraint audit_chains_pruned_to_check CHECK (pruned_to >= 0)
);
comment on table audit_chains is 'The end of each chain, and the number up to which it was pruned.';
comment on column audit_chains.number is 'Number of the last sealed entry; 0 before the first.';
comment on column audit_chains.hash is 'Its chain hash; zeros before the first.';

create table audit_keys (
  key_id              uuid not null,
  public_key          text not null,
  sealed_private_key  bytea not null,
  created_at          timestamp with time zone not null,
  constraint audit_keys_pkey PRIMARY KEY (key_id),
  constraint audit_keys_public_key_check CHECK (public_key ~ '^[A-Za-z0-9_-]{43}$'::text)
);
comment on table audit_keys is 'Ed25519 keys that sign anchors. The newest signs; all verify.';
comment on column audit_keys.public_key is 'The parameter x of the JSON Web Key (RFC 8037).';
comment on column audit_keys.sealed_private_key is 'AES-256-GCM under the service''s key-encryption key.';

create table audit_anchors (
  institution_id  integer not null,
  chain           text not null,
  number          bigint not null,
  hash            bytea not null,
  signed_at       timestamp with time zone not null,
  jws             text collate "C" not null,
  constraint audit_anchors_pkey PRIMARY KEY (institution_id, chain, number),
  constraint audit_anchors_chain_check CHECK (chain = ANY (ARRAY['access'::text, 'changes'::text])),
  constraint audit_anchors_hash_check CHECK (length(hash) = 32),
  constraint audit_anchors_institution_id_check CHECK (institution_id >= 0),
  constraint audit_anchors_jws_check CHECK (length(jws) <= 2000 AND jws ~ '^[A-Za-z0-9_.-]+$'::text),
  constraint audit_anchors_number_check CHECK (number > 0)
);
comment on table audit_anchors is 'Signed statements of the hash at a number of a chain.';
comment on column audit_anchors.jws is 'The anchor, as a compact JSON Web Signature with EdDSA.';

create table audit_retention (
  institution_id  integer not null,
  access_days     integer not null,
  changes_days    integer not null,
  constraint audit_retention_pkey PRIMARY KEY (institution_id),
  constraint audit_retention_access_days_check CHECK (access_days >= 90 AND access_days <= 36600),
  constraint audit_retention_changes_days_check CHECK (changes_days >= 1827 AND changes_days <= 36600),
  constraint audit_retention_institution_id_check CHECK (institution_id >= 0)
);
comment on table audit_retention is 'How long an institution keeps its audit, if it is not as long as the settings say.';

-- ---------------------------------------------------------------------------------------------------------
-- alerts

create table alert_preferences (
  institution_id     integer not null,
  user_key           bigint not null,
  time_zone          text not null,
  language           text not null,
  quiet_from         time without time zone,
  quiet_to           time without time zone,
  security_channels  text[] collate "C" not null,
  changed_at         timestamp with time zone not null,
  digest_at          time without time zone,
  constraint alert_preferences_pkey PRIMARY KEY (institution_id, user_key),
  constraint alert_preferences_institution_id_user_key_fkey FOREIGN KEY (institution_id, user_key) REFERENCES users(institution_id, user_key),
  constraint alert_preferences_language_check CHECK (language = ANY (ARRAY['en'::text, 'es'::text])),
  constraint alert_preferences_quiet CHECK ((quiet_from IS NULL) = (quiet_to IS NULL) AND quiet_from <> quiet_to),
  constraint alert_preferences_security CHECK (security_channels @> ARRAY['EMAIL'::text, 'INBOX'::text] AND security_channels <@ ARRAY['EMAIL'::text, 'SMS'::text, 'PUSH'::text, 'INBOX'::text]),
  constraint alert_preferences_time_zone_check CHECK (length(time_zone) >= 1 AND length(time_zone) <= 64)
);
comment on table alert_preferences is 'How a member receives alerts. A member without a row has the defaults.';
comment on column alert_preferences.time_zone is 'IANA name, for quiet hours and the digest.';
comment on column alert_preferences.quiet_from is 'From then until quiet_to, alerts other than security alerts wait.';
comment on column alert_preferences.security_channels is 'Security alerts cannot be switched off.';
comment on column alert_preferences.digest_at is 'On the clocks of time_zone. Alerts about accounts wait for it and go out together; null: each on its own.';

create table alert_rules (
  institution_id  integer not null,
  user_key        bigint not null,
  account_key     bigint not null,
  alert_type      text collate "C" not null,
  threshold       bigint,
  channels        text[] collate "C" not null,
  constraint alert_rules_pkey PRIMARY KEY (institution_id, user_key, account_key, alert_type),
  constraint alert_rules_institution_id_account_key_fkey FOREIGN KEY (institution_id, account_key) REFERENCES accounts(institution_id, account_key),
  constraint alert_rules_institution_id_user_key_fkey FOREIGN KEY (institution_id, user_key) REFERENCES users(institution_id, user_key),
  constraint alert_rules_alert_type_check CHECK (alert_type = ANY (ARRAY['LOW_BALANCE'::text, 'HIGH_BALANCE'::text, 'DEPOSIT'::text, 'PAYMENT'::text, 'TRANSFER_COMPLETE'::text, 'TRANSFER_FAILED'::text, 'TRANSFER_PENDING'::text, 'PAYMENT_DUE'::text])),
  constraint alert_rules_channels CHECK (cardinality(channels) > 0 AND channels <@ ARRAY['EMAIL'::text, 'SMS'::text, 'PUSH'::text, 'INBOX'::text]),
  constraint alert_rules_threshold CHECK ((threshold IS NOT NULL) = (alert_type = ANY (ARRAY['LOW_BALANCE'::text, 'HIGH_BALANCE'::text, 'DEPOSIT'::text, 'PAYMENT'::text]))),
  constraint alert_rules_threshold_check CHECK (threshold > 0)
);
CREATE INDEX alert_rules_by_account ON alert_rules USING btree (institution_id, account_key);
CREATE INDEX alert_rules_of_dues ON alert_rules USING btree (institution_id, account_key, user_key) WHERE (alert_type = 'PAYMENT_DUE'::text);
comment on table alert_rules is 'The alerts that members want about their accounts, one of each type.';
comment on column alert_rules.threshold is 'Minor units of the account''s currency.';

create table alerts (
  institution_id  integer not null,
  alert_key       bigint not null generated always as identity,
  alert_id        uuid not null,
  user_key        bigint not null,
  alert_type      text collate "C" not null,
  event_id        text collate "C",
  account_key     bigint,
  transfer_id     text collate "C",
  amount          bigint,
  balance         bigint,
  threshold       bigint,
  occurred_at     timestamp with time zone not null,
  recorded_at     timestamp with time zone not null,
  channels        text[] collate "C" not null,
  due_at          timestamp with time zone not null,
  released_at     timestamp with time zone,
  read_at         timestamp with time zone,
  in_digest       boolean not null default false,
  due_on          date,
  constraint alerts_pkey PRIMARY KEY (institution_id, user_key, alert_key),
  constraint alerts_once UNIQUE (institution_id, alert_id),
  constraint alerts_institution_id_user_key_fkey FOREIGN KEY (institution_id, user_key) REFERENCES users(institution_id, user_key),
  constraint alerts_alert_type_check CHECK (alert_type = ANY (ARRAY['LOW_BALANCE'::text, 'HIGH_BALANCE'::text, 'DEPOSIT'::text, 'PAYMENT'::text, 'TRANSFER_COMPLETE'::text, 'TRANSFER_FAILED'::text, 'TRANSFER_PENDING'::text, 'PAYMENT_DUE'::text, 'CONTACT_CHANGED'::text, 'PASSWORD_CHANGED'::text, 'NEW_DEVICE'::text, 'SECOND_FACTOR_CHANGED'::text, 'RECOVERY_CODE_USED'::text])),
  constraint alerts_channels_check CHECK (cardinality(channels) > 0),
  constraint alerts_digest CHECK (NOT in_digest OR account_key IS NOT NULL),
  constraint alerts_due_on CHECK ((due_on IS NOT NULL) = (alert_type = 'PAYMENT_DUE'::text) AND (event_id IS NULL) = (alert_type = 'PAYMENT_DUE'::text)),
  constraint alerts_security CHECK ((account_key IS NULL) = (alert_type = ANY (ARRAY['CONTACT_CHANGED'::text, 'PASSWORD_CHANGED'::text, 'NEW_DEVICE'::text, 'SECOND_FACTOR_CHANGED'::text, 'RECOVERY_CODE_USED'::text])))
);
CREATE INDEX alerts_by_age ON alerts USING btree (institution_id, recorded_at);
CREATE INDEX alerts_due ON alerts USING btree (institution_id, due_at) WHERE (released_at IS NULL);
CREATE INDEX alerts_inbox ON alerts USING btree (institution_id, user_key, alert_key) WHERE (channels @> ARRAY['INBOX'::text]);
CREATE INDEX alerts_unread ON alerts USING btree (institution_id, user_key, alert_key) WHERE ((channels @> ARRAY['INBOX'::text]) AND (read_at IS NULL));
comment on table alerts is 'Alerts of members, each from one event and one rule.';
comment on column alerts.alert_id is 'Derived from the event, the type, the account and the user, so that a repetition changes nothing.';
comment on column alerts.amount is 'Minor units of the account''s currency, as balance and threshold.';
comment on column alerts.balance is 'The available balance behind the event.';
comment on column alerts.due_at is 'Released then: at once, or at the end of quiet hours.';
comment on column alerts.released_at is 'When its event was written to the feed, in the same transaction.';
comment on column alerts.in_digest is 'It goes out at due_at together with the member''s others.';
comment on column alerts.due_on is 'The day on which the payment is due. No event raises this alert: the calendar does.';

create table alert_positions (
  institution_id  integer not null,
  epoch           bigint not null,
  xid             xid8 not null,
  event_key       bigint not null,
  number          bigint not null,
  leased_by       uuid,
  lease_until     timestamp with time zone,
  dues_seen_on    date,
  constraint alert_positions_pkey PRIMARY KEY (institution_id),
  constraint alert_positions_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint alert_positions_epoch_check CHECK (epoch >= 0),
  constraint alert_positions_event_key_check CHECK (event_key >= 0),
  constraint alert_positions_lease CHECK ((leased_by IS NULL) = (lease_until IS NULL)),
  constraint alert_positions_number_check CHECK (number >= 0)
);
comment on table alert_positions is 'How far alerts are derived from the feed. An institution without a row begins with its first event.';
comment on column alert_positions.number is 'Number of the last event at or before the position.';
comment on column alert_positions.leased_by is 'The process that derives alerts until lease_until.';
comment on column alert_positions.dues_seen_on is 'The last day, in the institution''s time zone, for which payments due were looked up.';

-- ---------------------------------------------------------------------------------------------------------
-- breaks

create table core_breaks (
  institution_id  integer not null,
  break_key       bigint not null generated always as identity,
  class           text not null,
  subject         text collate "C" not null,
  account_id      text collate "C" not null,
  account_key     bigint,
  account_seq     bigint,
  core_id         text collate "C",
  transfer_key    bigint,
  currency        text collate "C" not null,
  difference      bigint not null,
  as_of           timestamp with time zone,
  owner           text,
  opened_at       timestamp with time zone not null,
  closed_at       timestamp with time zone,
  closed_by       text,
  adjusted_seq    bigint,
  constraint core_breaks_pkey PRIMARY KEY (institution_id, break_key),
  constraint core_breaks_account_id_check CHECK (length(account_id) >= 1 AND length(account_id) <= 64),
  constraint core_breaks_adjusted CHECK ((NOT closed_by IS DISTINCT FROM 'ADJUSTED'::text) = (adjusted_seq IS NOT NULL)),
  constraint core_breaks_class_check CHECK (class = ANY (ARRAY['MISSING_HERE'::text, 'MISSING_THERE'::text, 'AMOUNT'::text, 'DUPLICATE'::text, 'TIMING'::text, 'UNKNOWN_ACCOUNT'::text, 'AMOUNT_MISMATCH'::text, 'BELOW_FLOOR'::text, 'REVERSAL_REJECTED'::text])),
  constraint core_breaks_closed CHECK (num_nonnulls(closed_at, closed_by) = ANY (ARRAY[0, 2])),
  constraint core_breaks_closed_by_check CHECK (closed_by = ANY (ARRAY['ARRIVED'::text, 'AGREED'::text, 'DECIDED'::text, 'RECOVERED'::text, 'ADJUSTED'::text])),
  constraint core_breaks_currency_check CHECK (currency ~ '^[A-Z]{3}$'::text),
  constraint core_breaks_owner_check CHECK (length(owner) >= 1 AND length(owner) <= 128),
  constraint core_breaks_subject_check CHECK (length(subject) >= 1 AND length(subject) <= 200)
);
CREATE UNIQUE INDEX core_breaks_open ON core_breaks USING btree (institution_id, subject) WHERE (closed_at IS NULL);
CREATE INDEX core_breaks_open_account ON core_breaks USING btree (institution_id, account_id) WHERE (closed_at IS NULL);
CREATE INDEX core_breaks_open_keys ON core_breaks USING btree (institution_id, break_key) WHERE (closed_at IS NULL);
CREATE INDEX core_breaks_subject ON core_breaks USING btree (institution_id, subject);
comment on table core_breaks is 'Differences between the core''s books and these. A closed one never changes; the same difference later is a new one.';
comment on column core_breaks.subject is 'The thing that differs: account:ID, posting:ID of the core, instruction:ID, echo:ID, reversal:ID or floor:ID. Open once at most.';
comment on column core_breaks.account_id is 'The account, by the id that the core knows. UNKNOWN_ACCOUNT: no account of this institution.';
comment on column core_breaks.account_seq is 'The newest entry of the account when it was compared.';
comment on column core_breaks.difference is 'The core''s amount minus the one here; 0 if no amount differs.';
comment on column core_breaks.as_of is 'The moment of the balances that were compared. Null: found without a comparison.';
comment on column core_breaks.owner is 'The person who looks after it, by name.';
comment on column core_breaks.adjusted_seq is 'The entry of the account that posted the difference. Null unless the break was adjusted.';

create table core_break_notes (
  institution_id  integer not null,
  note_key        bigint not null generated always as identity,
  break_key       bigint not null,
  noted_at        timestamp with time zone not null,
  author          text,
  note            text not null,
  constraint core_break_notes_pkey PRIMARY KEY (institution_id, break_key, note_key),
  constraint core_break_notes_institution_id_break_key_fkey FOREIGN KEY (institution_id, break_key) REFERENCES core_breaks(institution_id, break_key),
  constraint core_break_notes_author_check CHECK (length(author) >= 1 AND length(author) <= 256),
  constraint core_break_notes_note_check CHECK (length(note) >= 1 AND length(note) <= 1000 AND note !~ '[[:cntrl:]\u00AD\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]'::text)
);
comment on table core_break_notes is 'The story of each break. Insert-only.';
comment on column core_break_notes.author is 'The client or the operator. Null: the service.';

create table core_comparisons (
  institution_id  integer not null,
  as_of           timestamp with time zone not null,
  compared_at     timestamp with time zone not null,
  accounts        integer not null,
  in_flight       integer not null,
  differing       integer not null,
  constraint core_comparisons_pkey PRIMARY KEY (institution_id, as_of),
  constraint core_comparisons_accounts_check CHECK (accounts >= 0),
  constraint core_comparisons_differing_check CHECK (differing >= 0),
  constraint core_comparisons_in_flight_check CHECK (in_flight >= 0)
);
comment on table core_comparisons is 'The comparisons of the core''s balances with these; the last one of each moment.';
comment on column core_comparisons.in_flight is 'Accounts whose difference is that of instructions under way.';
comment on column core_comparisons.differing is 'Accounts whose difference is a break.';

create unlogged table staged_core_balances (
  institution_id  integer not null,
  delivery        uuid not null,
  account_id      text collate "C" not null,
  currency        text collate "C" not null,
  balance         bigint not null,
  staged_at       timestamp with time zone not null,
  constraint staged_core_balances_pkey PRIMARY KEY (institution_id, delivery, account_id)
);
comment on table staged_core_balances is 'Balances that the core stated, until they are compared.';

create unlogged table staged_core_postings (
  institution_id  integer not null,
  delivery        uuid not null,
  core_id         text collate "C" not null,
  account_id      text collate "C" not null,
  currency        text collate "C" not null,
  amount          bigint not null,
  staged_at       timestamp with time zone not null,
  constraint staged_core_postings_pkey PRIMARY KEY (institution_id, delivery, core_id)
);
comment on table staged_core_postings is 'The core''s list of its postings, until it is compared.';

-- ---------------------------------------------------------------------------------------------------------
-- hashing key

create table hashing_key (
  only_row    boolean not null default true,
  sealed_key  bytea not null,
  constraint hashing_key_pkey PRIMARY KEY (only_row),
  constraint hashing_key_only_row_check CHECK (only_row),
  constraint hashing_key_sealed_key_check CHECK (length(sealed_key) = 60)
);
comment on table hashing_key is 'The key of stored hashes, once SECRET_KEY was changed. Without a row it is derived from SECRET_KEY.';
comment on column hashing_key.sealed_key is 'AES-256-GCM under the service''s key-encryption key.';

-- ---------------------------------------------------------------------------------------------------------
-- dpop

create unlogged table dpop_proofs (
  institution_id  integer not null,
  proof_hash      bytea not null,
  expires_at      timestamp with time zone not null,
  constraint dpop_proofs_pkey PRIMARY KEY (institution_id, proof_hash),
  constraint dpop_proofs_proof_hash_check CHECK (length(proof_hash) = 32)
);
CREATE INDEX dpop_proofs_by_expiry ON dpop_proofs USING btree (institution_id, expires_at);
comment on table dpop_proofs is 'Replay cache: each proof of a key is accepted once.';
comment on column dpop_proofs.proof_hash is 'SHA-256 of the key''s thumbprint and the proof''s jti.';

-- ---------------------------------------------------------------------------------------------------------
-- passkeys

create table passkeys (
  institution_id  integer not null,
  passkey_id      uuid not null,
  credential_id   bytea not null,
  user_key        bigint not null,
  place           smallint not null,
  public_key      bytea not null,
  sign_count      bigint not null,
  is_synced       boolean not null,
  name            text not null,
  created_at      timestamp with time zone not null,
  last_used_at    timestamp with time zone,
  constraint passkeys_pkey PRIMARY KEY (institution_id, passkey_id),
  constraint passkeys_by_credential UNIQUE (institution_id, credential_id),
  constraint passkeys_by_place UNIQUE (institution_id, user_key, place),
  constraint passkeys_institution_id_user_key_fkey FOREIGN KEY (institution_id, user_key) REFERENCES users(institution_id, user_key),
  constraint passkeys_credential_id_check CHECK (length(credential_id) >= 1 AND length(credential_id) <= 1023),
  constraint passkeys_name CHECK (length(name) >= 1 AND length(name) <= 64 AND name = btrim(name) AND name !~ '[[:cntrl:]]'::text),
  constraint passkeys_place CHECK (place >= 1 AND place <= 10),
  constraint passkeys_public_key_check CHECK (length(public_key) >= 1 AND length(public_key) <= 2048),
  constraint passkeys_sign_count CHECK (sign_count >= 0 AND sign_count <= '4294967295'::bigint),
  constraint passkeys_used CHECK (last_used_at >= created_at)
);
comment on table passkeys is 'Public keys with which members sign in, at most ten each. The private key never leaves the member''s device or its maker''s cloud.';
comment on column passkeys.credential_id is 'The id that the authenticator gave.';
comment on column passkeys.place is 'One of the member''s ten.';
comment on column passkeys.public_key is 'COSE key (RFC 9052).';
comment on column passkeys.sign_count is 'The last signature counter; 0 from authenticators that have none.';
comment on column passkeys.is_synced is 'Its maker copies it among the member''s devices, so it is no proof of one device.';

create table passkey_challenges (
  institution_id  integer not null,
  challenge       bytea not null,
  expires_at      timestamp with time zone not null,
  constraint passkey_challenges_pkey PRIMARY KEY (institution_id, challenge),
  constraint passkey_challenges_challenge CHECK (length(challenge) = 32)
);
CREATE INDEX passkey_challenges_by_end ON passkey_challenges USING btree (institution_id, expires_at);
comment on table passkey_challenges is 'Challenges that a passkey answered: each counts once. A challenge travels sealed in its page until then.';

-- ---------------------------------------------------------------------------------------------------------
-- operators

create table operators (
  institution_id    integer not null,
  operator_id       text collate "C" not null,
  name              text not null,
  roles             text[] not null,
  status            text not null,
  source            text not null,
  provider_subject  text collate "C",
  created_at        timestamp with time zone not null,
  email             text,
  provider_issuer   text collate "C",
  constraint operators_pkey PRIMARY KEY (institution_id, operator_id),
  constraint operators_email_check CHECK (length(email) >= 3 AND length(email) <= 254 AND email ~ '^[^[:space:][:cntrl:]@]+@[^[:space:][:cntrl:]@]+$'::text),
  constraint operators_invited_by_address CHECK (source <> 'INVITATION'::text OR email IS NOT NULL),
  constraint operators_name_check CHECK (length(name) >= 1 AND length(name) <= 128 AND name = btrim(name) AND name !~ '[[:cntrl:]\u00AD\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]'::text),
  constraint operators_operator_id_check CHECK (operator_id ~ '^[0-9a-f-]{36}$'::text),
  constraint operators_provider_issuer CHECK ((source = 'PROVIDER'::text) = (provider_issuer IS NOT NULL)),
  constraint operators_provider_issuer_check CHECK (length(provider_issuer) >= 1 AND length(provider_issuer) <= 2048),
  constraint operators_provider_subject CHECK ((source = 'PROVIDER'::text) = (provider_subject IS NOT NULL)),
  constraint operators_provider_subject_check CHECK (length(provider_subject) >= 1 AND length(provider_subject) <= 255),
  constraint operators_roles_check CHECK (cardinality(roles) >= 1 AND cardinality(roles) <= 5 AND roles <@ ARRAY['viewer'::text, 'teller'::text, 'approver'::text, 'administrator'::text, 'auditor'::text]),
  constraint operators_source_check CHECK (source = ANY (ARRAY['INVITATION'::text, 'PROVIDER'::text, 'DEMO'::text])),
  constraint operators_status_check CHECK (status = ANY (ARRAY['INVITED'::text, 'ACTIVE'::text, 'SUSPENDED'::text, 'ENDED'::text]))
);
CREATE UNIQUE INDEX operators_by_email ON operators USING btree (institution_id, lower(email)) WHERE ((email IS NOT NULL) AND (status <> 'ENDED'::text));
CREATE UNIQUE INDEX operators_by_subject ON operators USING btree (institution_id, provider_issuer, provider_subject) WHERE (provider_subject IS NOT NULL);
comment on table operators is 'The persons who run an institution, with their roles. A row stays for the audit; the person ends.';
comment on column operators.name is 'Under which acts stand in the audit. Dual control compares it, so it is unique in the institution, look-alikes included.';
comment on column operators.roles is 'Each role has the rights of src/operators/access/rights.ts.';
comment on column operators.status is 'INVITED has not signed in yet. ENDED is final.';
comment on column operators.source is 'PROVIDER: the roles are those of the last sign-in at the institution''s OpenID provider. DEMO: a button of the demo.';
comment on column operators.provider_subject is 'The claim sub of the OpenID provider.';
comment on column operators.email is 'The address that the institution has of the person. No message goes there.';
comment on column operators.provider_issuer is 'The provider that gave the subject: another one may give the same to another person.';

create table operator_sessions (
  institution_id    integer not null,
  session_id        text collate "C" not null,
  secret_hash       bytea not null,
  operator_id       text collate "C" not null,
  kind              text not null,
  method            text not null,
  authenticated_at  timestamp with time zone not null,
  created_at        timestamp with time zone not null,
  last_used_at      timestamp with time zone not null,
  expires_at        timestamp with time zone not null,
  ended_at          timestamp with time zone,
  address           inet,
  user_agent        text,
  constraint operator_sessions_pkey PRIMARY KEY (institution_id, session_id),
  constraint operator_sessions_institution_id_operator_id_fkey FOREIGN KEY (institution_id, operator_id) REFERENCES operators(institution_id, operator_id),
  constraint operator_sessions_check CHECK (expires_at > created_at),
  constraint operator_sessions_kind_check CHECK (kind = ANY (ARRAY['BROWSER'::text, 'COMMAND_LINE'::text])),
  constraint operator_sessions_method_check CHECK (method = ANY (ARRAY['provider'::text, 'passkey'::text, 'demo'::text])),
  constraint operator_sessions_secret_hash_check CHECK (length(secret_hash) = 32),
  constraint operator_sessions_session_id_check CHECK (session_id ~ '^[0-9a-f-]{36}$'::text),
  constraint operator_sessions_user_agent_check CHECK (length(user_agent) <= 256)
);
CREATE INDEX operator_sessions_by_operator ON operator_sessions USING btree (institution_id, operator_id);
CREATE UNIQUE INDEX operator_sessions_by_secret ON operator_sessions USING btree (institution_id, secret_hash);
comment on table operator_sessions is 'Browsers and command lines in which operators are signed in. Deleted once expired.';
comment on column operator_sessions.secret_hash is 'HMAC of the cookie or the token under SECRET_KEY.';
comment on column operator_sessions.authenticated_at is 'When the person last proved who they are. An approval wants this within five minutes.';

-- ---------------------------------------------------------------------------------------------------------
-- mail

create table mail_senders (
  institution_id  integer not null,
  endpoint_id     uuid not null,
  from_name       text not null,
  from_address    text collate "C" not null,
  reply_to        text collate "C",
  changed_at      timestamp with time zone not null,
  constraint mail_senders_pkey PRIMARY KEY (institution_id),
  constraint mail_senders_institution_id_endpoint_id_fkey FOREIGN KEY (institution_id, endpoint_id) REFERENCES webhook_endpoints(institution_id, endpoint_id) ON DELETE CASCADE,
  constraint mail_senders_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint mail_senders_from_address_check CHECK (length(from_address) <= 254 AND from_address ~ '^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+$'::text),
  constraint mail_senders_from_name_check CHECK (length(from_name) >= 1 AND length(from_name) <= 100 AND from_name !~ '[[:cntrl:]]'::text),
  constraint mail_senders_reply_to_check CHECK (length(reply_to) <= 254 AND reply_to ~ '^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+$'::text)
);
comment on table mail_senders is 'Institutions that send their alerts by mail, and the name and address that members see.';

create table mail_suppressions (
  institution_id  integer not null,
  address         text collate "C" not null,
  reason          text not null,
  suppressed_at   timestamp with time zone not null,
  constraint mail_suppressions_pkey PRIMARY KEY (institution_id, address),
  constraint mail_suppressions_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint mail_suppressions_address_check CHECK (length(address) >= 3 AND length(address) <= 254 AND address = lower(address)),
  constraint mail_suppressions_reason_check CHECK (reason = ANY (ARRAY['BOUNCED'::text, 'COMPLAINED'::text, 'REFUSED'::text, 'OPERATOR'::text]))
);
comment on table mail_suppressions is 'Addresses that get no mail until an operator lifts the suppression.';
comment on column mail_suppressions.reason is 'BOUNCED, COMPLAINED: reported from outside. REFUSED: by the mail server, while the message was handed over. OPERATOR: by hand.';

-- ---------------------------------------------------------------------------------------------------------
-- record versions

create table core_record_versions (
  institution_id  integer not null,
  record          text collate "C" not null,
  record_id       text collate "C" not null,
  changed_at      timestamp with time zone not null,
  constraint core_record_versions_pkey PRIMARY KEY (institution_id, record, record_id),
  constraint core_record_versions_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint core_record_versions_record_check CHECK (record = ANY (ARRAY['person'::text, 'member'::text, 'memberPerson'::text, 'account'::text, 'holder'::text])),
  constraint core_record_versions_record_id_check CHECK (length(record_id) >= 1 AND length(record_id) <= 160)
);
comment on table core_record_versions is 'The time of the newest change of each record for which the core stated one. The row of a holder or a person that was removed stays.';
comment on column core_record_versions.record_id is 'The id in the answers of a delivery: of a holder the account and the person.';

-- ---------------------------------------------------------------------------------------------------------
-- rejected rows

create unlogged table staged_rejects (
  institution_id  integer not null,
  file            text collate "C" not null,
  line            integer not null,
  column_name     text collate "C" not null,
  expected        text collate "C" not null,
  constraint staged_rejects_pkey PRIMARY KEY (institution_id, file, line, column_name, expected)
);
comment on table staged_rejects is 'Errors of the rows that an import leaves out, before they are listed in a file.';
comment on column staged_rejects.column_name is 'Empty if the row has too few or too many values.';
comment on column staged_rejects.expected is 'The end of the sentence that the operator reads; never a value of the row.';

-- ---------------------------------------------------------------------------------------------------------
-- devices

create table user_devices (
  institution_id  integer not null,
  user_key        bigint not null,
  device_hash     bytea not null,
  first_seen_at   timestamp with time zone not null,
  last_seen_at    timestamp with time zone not null,
  kind            text,
  client_id       text,
  name            text,
  constraint user_devices_pkey PRIMARY KEY (institution_id, user_key, device_hash),
  constraint user_devices_institution_id_user_key_fkey FOREIGN KEY (institution_id, user_key) REFERENCES users(institution_id, user_key),
  constraint user_devices_hash CHECK (length(device_hash) = 32),
  constraint user_devices_kind CHECK (kind = ANY (ARRAY['BROWSER'::text, 'KEY'::text, 'APP'::text, 'APP_WITHOUT_ID'::text])),
  constraint user_devices_seen CHECK (last_seen_at >= first_seen_at)
);
CREATE INDEX user_devices_by_time ON user_devices USING btree (institution_id, last_seen_at);
comment on table user_devices is 'Devices from which a member signed in with a password or a passkey, in the last 400 days.';
comment on column user_devices.device_hash is 'Keyed hash of the browser''s cookie, of the app''s DPoP key, or of the device_id that the app sent.';
comment on column user_devices.last_seen_at is 'To the day: a sign-in within a day of it does not write.';
comment on column user_devices.kind is 'The mark that is hashed: the cookie of a browser, the DPoP key of an app, its device_id, or none: then all devices of the app are one.';
comment on column user_devices.client_id is 'The app of the sign-in that wrote the row last.';
comment on column user_devices.name is 'Browser and system that the User-Agent of that sign-in claimed.';

-- ---------------------------------------------------------------------------------------------------------
-- screening

create table screening_hooks (
  institution_id   integer not null,
  url              text not null,
  from_amount      bigint not null,
  timeout_millis   integer not null,
  on_silence       text not null,
  hold_seconds     integer not null,
  sealed_secret    bytea not null,
  sealed_previous  bytea,
  previous_until   timestamp with time zone,
  binds_from       timestamp with time zone not null default (now() + '00:00:30'::interval),
  constraint screening_hooks_pkey PRIMARY KEY (institution_id),
  constraint screening_hooks_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint screening_hooks_from_amount_check CHECK (from_amount >= 0),
  constraint screening_hooks_hold_seconds_check CHECK (hold_seconds >= 60 AND hold_seconds <= 2592000),
  constraint screening_hooks_on_silence_check CHECK (on_silence = ANY (ARRAY['APPROVE'::text, 'HOLD'::text, 'DECLINE'::text])),
  constraint screening_hooks_previous CHECK ((sealed_previous IS NULL) = (previous_until IS NULL)),
  constraint screening_hooks_timeout_millis_check CHECK (timeout_millis >= 50 AND timeout_millis <= 5000),
  constraint screening_hooks_url_check CHECK (url ~ '^https?://[!-~]+$'::text AND length(url) <= 2048)
);
comment on table screening_hooks is 'The address at which an institution screens orders for fraud, at most one for each institution.';
comment on column screening_hooks.from_amount is 'Orders from this amount on are screened, in minor units of the institution''s currency. Orders in another currency always are.';
comment on column screening_hooks.timeout_millis is 'The time that the hook has for its answer.';
comment on column screening_hooks.on_silence is 'The verdict on an order that got no answer.';
comment on column screening_hooks.hold_seconds is 'An order that is held for review by its verdict expires after this time.';
comment on column screening_hooks.sealed_secret is 'The secret that signs the requests, under the key of SECRET_KEY.';
comment on column screening_hooks.sealed_previous is 'The secret before, which signs as well until previous_until.';
comment on column screening_hooks.binds_from is 'From this time on the database refuses money that moves without a verdict. Processes learn of a change within a second.';

create table transfer_screenings (
  institution_id  integer not null,
  transfer_key    bigint not null,
  verdict         text not null,
  answer          text not null,
  reference       text,
  asked_millis    integer,
  constraint transfer_screenings_pkey PRIMARY KEY (institution_id, transfer_key),
  constraint transfer_screenings_institution_id_transfer_key_fkey FOREIGN KEY (institution_id, transfer_key) REFERENCES transfers(institution_id, transfer_key) DEFERRABLE INITIALLY DEFERRED,
  constraint transfer_screenings_answer_check CHECK (answer = ANY (ARRAY['ANSWERED'::text, 'SILENT'::text, 'NOT_ASKED'::text])),
  constraint transfer_screenings_answered CHECK (answer = 'ANSWERED'::text OR reference IS NULL),
  constraint transfer_screenings_asked CHECK ((answer = 'NOT_ASKED'::text) = (asked_millis IS NULL)),
  constraint transfer_screenings_asked_millis_check CHECK (asked_millis >= 0),
  constraint transfer_screenings_reference_check CHECK (reference ~ '^[ -~]{1,100}$'::text),
  constraint transfer_screenings_verdict_check CHECK (verdict = ANY (ARRAY['APPROVE'::text, 'HOLD'::text, 'DECLINE'::text]))
);
comment on table transfer_screenings is 'The verdict of screening on an order, which is never changed.';
comment on column transfer_screenings.answer is 'SILENT: asked, and no valid answer came in time. NOT_ASKED: the order had no verdict when it was decided, for instance because the setting is newer.';
comment on column transfer_screenings.reference is 'The case number that the hook gave.';

-- ---------------------------------------------------------------------------------------------------------
-- step up

create table transfer_sign_ins (
  institution_id  integer not null,
  transfer_key    bigint not null,
  signed_in_at    timestamp with time zone not null,
  acr             text,
  checked_at      timestamp with time zone not null,
  constraint transfer_sign_ins_pkey PRIMARY KEY (institution_id, transfer_key),
  constraint transfer_sign_ins_institution_id_transfer_key_fkey FOREIGN KEY (institution_id, transfer_key) REFERENCES transfers(institution_id, transfer_key) DEFERRABLE INITIALLY DEFERRED,
  constraint transfer_sign_ins_acr_check CHECK (acr = ANY (ARRAY['phr'::text, 'http://schemas.openid.net/pape/policies/2007/06/multi-factor'::text]))
);
comment on table transfer_sign_ins is 'The sign-in behind a member''s order, at institutions where some transfers need a recent one.';
comment on column transfer_sign_ins.acr is 'As in refresh_families.';
comment on column transfer_sign_ins.checked_at is 'The clock''s time when the age of the sign-in was checked.';

-- ---------------------------------------------------------------------------------------------------------
-- operator passkeys

create table operator_invitations (
  institution_id  integer not null,
  operator_id     text collate "C" not null,
  selector        text collate "C" not null,
  secret_hash     bytea not null,
  failed_tries    smallint not null default 0,
  expires_at      timestamp with time zone not null,
  constraint operator_invitations_pkey PRIMARY KEY (institution_id, operator_id),
  constraint operator_invitations_institution_id_operator_id_fkey FOREIGN KEY (institution_id, operator_id) REFERENCES operators(institution_id, operator_id),
  constraint operator_invitations_failed_tries_check CHECK (failed_tries >= 0 AND failed_tries <= 5),
  constraint operator_invitations_secret_hash_check CHECK (length(secret_hash) = 32),
  constraint operator_invitations_selector_check CHECK (length(selector) = 8)
);
CREATE UNIQUE INDEX operator_invitations_by_selector ON operator_invitations USING btree (institution_id, selector);
comment on table operator_invitations is 'One-time codes with which operators enroll their first passkey: one an operator, deleted by its use.';
comment on column operator_invitations.secret_hash is 'HMAC of the code''s 128 random bits under SECRET_KEY.';

create table operator_passkeys (
  institution_id  integer not null,
  passkey_id      uuid not null,
  credential_id   bytea not null,
  operator_id     text collate "C" not null,
  place           smallint not null,
  public_key      bytea not null,
  sign_count      bigint not null,
  is_synced       boolean not null,
  name            text not null,
  created_at      timestamp with time zone not null,
  last_used_at    timestamp with time zone,
  constraint operator_passkeys_pkey PRIMARY KEY (institution_id, passkey_id),
  constraint operator_passkeys_by_credential UNIQUE (institution_id, credential_id),
  constraint operator_passkeys_by_place UNIQUE (institution_id, operator_id, place),
  constraint operator_passkeys_institution_id_operator_id_fkey FOREIGN KEY (institution_id, operator_id) REFERENCES operators(institution_id, operator_id),
  constraint operator_passkeys_credential_id_check CHECK (length(credential_id) >= 1 AND length(credential_id) <= 1023),
  constraint operator_passkeys_name CHECK (length(name) >= 1 AND length(name) <= 64 AND name = btrim(name) AND name !~ '[[:cntrl:]]'::text),
  constraint operator_passkeys_place CHECK (place >= 1 AND place <= 10),
  constraint operator_passkeys_public_key_check CHECK (length(public_key) >= 1 AND length(public_key) <= 2048),
  constraint operator_passkeys_sign_count CHECK (sign_count >= 0 AND sign_count <= '4294967295'::bigint),
  constraint operator_passkeys_used CHECK (last_used_at >= created_at)
);
comment on table operator_passkeys is 'Public keys with which operators sign in, at most ten each. Those of members are in another table, so neither signs in the other.';
comment on column operator_passkeys.credential_id is 'The id that the authenticator gave.';
comment on column operator_passkeys.place is 'One of the operator''s ten.';
comment on column operator_passkeys.public_key is 'COSE key (RFC 9052).';
comment on column operator_passkeys.sign_count is 'The last signature counter; 0 from authenticators that have none.';
comment on column operator_passkeys.is_synced is 'Its maker copies it among the person''s devices, so it is no proof of one device.';

-- ---------------------------------------------------------------------------------------------------------
-- operator providers

create table operator_providers (
  institution_id  integer not null,
  issuer          text collate "C" not null,
  client_id       text collate "C" not null,
  sealed_secret   bytea,
  scope           text collate "C" not null,
  group_claim     text collate "C" not null,
  may_be_inside   boolean not null,
  constraint operator_providers_pkey PRIMARY KEY (institution_id),
  constraint operator_providers_client_id_check CHECK (length(client_id) >= 1 AND length(client_id) <= 255),
  constraint operator_providers_group_claim_check CHECK (length(group_claim) >= 1 AND length(group_claim) <= 255),
  constraint operator_providers_issuer_check CHECK (length(issuer) >= 1 AND length(issuer) <= 2048),
  constraint operator_providers_scope_check CHECK (scope ~ '(^| )openid( |$)'::text AND length(scope) <= 1024),
  constraint operator_providers_sealed_secret_check CHECK (length(sealed_secret) >= 29 AND length(sealed_secret) <= 4096)
);
comment on table operator_providers is 'The OpenID provider at which an institution''s operators sign in.';
comment on column operator_providers.sealed_secret is 'The client secret, sealed under SECRET_KEY. Null: private_key_jwt with the service''s signing key.';
comment on column operator_providers.may_be_inside is 'The operators of the service said that its addresses are inside their network.';

create table operator_provider_groups (
  institution_id  integer not null,
  group_name      text collate "C" not null,
  role            text not null,
  constraint operator_provider_groups_pkey PRIMARY KEY (institution_id, group_name, role),
  constraint operator_provider_groups_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES operator_providers(institution_id),
  constraint operator_provider_groups_group_name_check CHECK (length(group_name) >= 1 AND length(group_name) <= 255),
  constraint operator_provider_groups_role_check CHECK (role = ANY (ARRAY['viewer'::text, 'teller'::text, 'approver'::text, 'administrator'::text, 'auditor'::text]))
);
comment on table operator_provider_groups is 'The roles of each group of the provider. A person without one is refused.';

-- ---------------------------------------------------------------------------------------------------------
-- event partitions

create table event_partitions (
  first_key   bigint not null,
  end_key     bigint not null,
  made_at     timestamp with time zone not null,
  last_key    bigint not null,
  closed_at   timestamp with time zone,
  closed_xid  xid8,
  events      bigint,
  digest      bytea,
  written_at  timestamp with time zone,
  dropped_at  timestamp with time zone,
  constraint event_partitions_pkey PRIMARY KEY (first_key),
  constraint event_partitions_end_key_key UNIQUE (end_key),
  constraint event_partitions_digest_check CHECK (length(digest) = 32),
  constraint event_partitions_events_check CHECK (events >= 0),
  constraint event_partitions_first_key_check CHECK (first_key > 0),
  constraint event_partitions_last_key_check CHECK (last_key >= 0),
  constraint event_partitions_order CHECK (first_key < end_key),
  constraint event_partitions_steps CHECK ((closed_at IS NULL) = (closed_xid IS NULL) AND (num_nulls(events, digest, written_at) = ANY (ARRAY[0, 3])) AND (written_at IS NULL OR closed_at IS NOT NULL) AND (dropped_at IS NULL OR written_at IS NOT NULL))
);
comment on table event_partitions is 'The partitions of outbox; each is called outbox_<first_key>.';
comment on column event_partitions.end_key is 'The first key behind the partition.';
comment on column event_partitions.made_at is 'By the clock of the database.';
comment on column event_partitions.last_key is 'The last event when the partition was made: with made_at, how fast events come.';
comment on column event_partitions.closed_at is 'From then on the feed begins behind its events.';
comment on column event_partitions.closed_xid is 'The transaction that closed it. It is dropped once no older one runs.';
comment on column event_partitions.events is 'Events in the file of the archive.';
comment on column event_partitions.digest is 'SHA-256 of the file of the archive.';
comment on column event_partitions.dropped_at is 'Its events are in the archive only.';

-- ---------------------------------------------------------------------------------------------------------
-- operator devices

create table operator_device_requests (
  institution_id    integer not null,
  device_hash       bytea not null,
  user_code_hash    bytea not null,
  machine           text not null,
  address           inet,
  created_at        timestamp with time zone not null,
  expires_at        timestamp with time zone not null,
  interval_seconds  integer not null,
  last_polled_at    timestamp with time zone,
  operator_id       text collate "C",
  is_approved       boolean,
  method            text,
  authenticated_at  timestamp with time zone,
  session_id        text collate "C",
  constraint operator_device_requests_pkey PRIMARY KEY (institution_id, device_hash),
  constraint operator_device_requests_institution_id_operator_id_fkey FOREIGN KEY (institution_id, operator_id) REFERENCES operators(institution_id, operator_id),
  constraint operator_device_requests_session FOREIGN KEY (institution_id, session_id) REFERENCES operator_sessions(institution_id, session_id) ON DELETE CASCADE,
  constraint operator_device_requests_check CHECK (expires_at > created_at),
  constraint operator_device_requests_decided CHECK (num_nonnulls(operator_id, is_approved, method, authenticated_at) = ANY (ARRAY[0, 4])),
  constraint operator_device_requests_device_hash_check CHECK (length(device_hash) = 32),
  constraint operator_device_requests_interval_seconds_check CHECK (interval_seconds >= 5 AND interval_seconds <= 3600),
  constraint operator_device_requests_machine_check CHECK (length(machine) >= 1 AND length(machine) <= 128 AND machine !~ '[[:cntrl:]]'::text),
  constraint operator_device_requests_method_check CHECK (method = ANY (ARRAY['provider'::text, 'passkey'::text, 'demo'::text])),
  constraint operator_device_requests_user_code_hash_check CHECK (length(user_code_hash) = 32)
);
CREATE UNIQUE INDEX operator_device_requests_by_code ON operator_device_requests USING btree (institution_id, user_code_hash);
CREATE INDEX operator_device_requests_by_end ON operator_device_requests USING btree (institution_id, expires_at);
comment on table operator_device_requests is 'Command lines that wait for an operator to sign them in, ten minutes at most. Deleted by the use of the code.';
comment on column operator_device_requests.device_hash is 'HMAC of the device code under SECRET_KEY.';
comment on column operator_device_requests.user_code_hash is 'HMAC of the code that the operator types.';
comment on column operator_device_requests.machine is 'The name that the machine gives itself.';
comment on column operator_device_requests.interval_seconds is 'The least time between two polls; five seconds more after each one that came too early.';
comment on column operator_device_requests.authenticated_at is 'The sign-in of the browser that decided.';
comment on column operator_device_requests.session_id is 'The session in which the operator decided. Once it has ended, the approval counts no more.';

-- ---------------------------------------------------------------------------------------------------------
-- consent accounts

create table consent_accounts (
  institution_id  integer not null,
  consent_id      uuid not null,
  account_key     bigint not null,
  may_pay         boolean not null,
  constraint consent_accounts_pkey PRIMARY KEY (institution_id, consent_id, account_key),
  constraint consent_accounts_institution_id_account_key_fkey FOREIGN KEY (institution_id, account_key) REFERENCES accounts(institution_id, account_key),
  constraint consent_accounts_institution_id_consent_id_fkey FOREIGN KEY (institution_id, consent_id) REFERENCES consents(institution_id, consent_id)
);
comment on table consent_accounts is 'The accounts that a consent names. They only become fewer: more need a new consent.';
comment on column consent_accounts.may_pay is 'With the scope transfer:write: the app may pay from the account.';

create table transfer_consents (
  institution_id  integer not null,
  transfer_key    bigint not null,
  consent_id      uuid not null,
  constraint transfer_consents_pkey PRIMARY KEY (institution_id, transfer_key),
  constraint transfer_consents_institution_id_consent_id_fkey FOREIGN KEY (institution_id, consent_id) REFERENCES consents(institution_id, consent_id),
  constraint transfer_consents_institution_id_transfer_key_fkey FOREIGN KEY (institution_id, transfer_key) REFERENCES transfers(institution_id, transfer_key)
);
comment on table transfer_consents is 'The consent under which an app ordered a transfer of its member.';

-- ---------------------------------------------------------------------------------------------------------
-- cells

create table cell (
  only_row           boolean not null default true,
  name               text collate "C" not null,
  first_number       integer not null,
  last_number        integer not null,
  set_at             timestamp with time zone not null,
  compared_timeline  text,
  constraint cell_pkey PRIMARY KEY (only_row),
  constraint cell_first_number_check CHECK (first_number > 0),
  constraint cell_last_number_check CHECK (last_number <= 9000000),
  constraint cell_name_check CHECK (name ~ '^[a-z][a-z0-9-]{0,30}$'::text),
  constraint cell_numbers CHECK (first_number <= last_number),
  constraint cell_only_row_check CHECK (only_row)
);
comment on table cell is 'The name of this cell, and the numbers of the institutions that are created in it. Without a row no institution moves.';
comment on column cell.last_number is 'Keys are the number times 1,000,000,000 and more: with this bound they stay below 2^53.';
comment on column cell.compared_timeline is 'The cluster and timeline (event_timeline) on which a process last found no contradiction to the directory. Another one was restored, or promoted, since.';

create table cell_keys (
  institution_id  integer not null,
  kid             text collate "C" not null,
  public_jwk      jsonb not null,
  verifies_until  timestamp with time zone not null,
  constraint cell_keys_pkey PRIMARY KEY (institution_id, kid),
  constraint cell_keys_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id)
);
comment on table cell_keys is 'Public keys of the cells that an institution came from. They verify tokens of this institution only, until the last one has expired.';

-- ---------------------------------------------------------------------------------------------------------
-- second factor

create table authenticators (
  institution_id    integer not null,
  user_key          bigint not null,
  authenticator_id  uuid not null,
  name              text not null,
  sealed_secret     bytea not null,
  last_step         bigint not null,
  created_at        timestamp with time zone not null,
  last_used_at      timestamp with time zone,
  constraint authenticators_pkey PRIMARY KEY (institution_id, user_key),
  constraint authenticators_institution_id_user_key_fkey FOREIGN KEY (institution_id, user_key) REFERENCES users(institution_id, user_key),
  constraint authenticators_last_step CHECK (last_step > 0),
  constraint authenticators_name CHECK (length(name) >= 1 AND length(name) <= 64 AND name = btrim(name) AND name !~ '[[:cntrl:]]'::text),
  constraint authenticators_sealed_secret CHECK (length(sealed_secret) = 48),
  constraint authenticators_used CHECK (last_used_at >= created_at)
);
comment on table authenticators is 'Authenticator apps of members, one each: sign-in by password then needs a code (RFC 6238).';
comment on column authenticators.sealed_secret is 'The 20 bytes shared with the app, sealed with SECRET_KEY.';
comment on column authenticators.last_step is 'The 30-second step of the last code that counted. Only a later one counts.';

create table recovery_codes (
  institution_id  integer not null,
  user_key        bigint not null,
  place           smallint not null,
  code_hash       bytea not null,
  created_at      timestamp with time zone not null,
  constraint recovery_codes_pkey PRIMARY KEY (institution_id, user_key, place),
  constraint recovery_codes_by_hash UNIQUE (institution_id, user_key, code_hash),
  constraint recovery_codes_institution_id_user_key_fkey FOREIGN KEY (institution_id, user_key) REFERENCES authenticators(institution_id, user_key),
  constraint recovery_codes_hash CHECK (length(code_hash) = 32),
  constraint recovery_codes_place CHECK (place >= 1 AND place <= 10)
);
comment on table recovery_codes is 'Codes in place of one of the authenticator app, ten at most. A used one is deleted.';
comment on column recovery_codes.code_hash is 'Keyed hash of 120 random bits.';

-- ---------------------------------------------------------------------------------------------------------
-- backchannel logout

create table logout_notices (
  institution_id  integer not null,
  session_id      uuid not null,
  client_id       text collate "C" not null,
  user_key        bigint not null,
  attempts        integer not null default 0,
  due_at          timestamp with time zone not null default '-infinity'::timestamp with time zone,
  host            text collate "C",
  constraint logout_notices_pkey PRIMARY KEY (institution_id, session_id, client_id),
  constraint logout_notices_institution_id_client_id_fkey FOREIGN KEY (institution_id, client_id) REFERENCES clients(institution_id, client_id),
  constraint logout_notices_institution_id_user_key_fkey FOREIGN KEY (institution_id, user_key) REFERENCES users(institution_id, user_key),
  constraint logout_notices_attempts CHECK (attempts >= 0 AND attempts <= 100)
);
CREATE INDEX logout_notices_by_client ON logout_notices USING btree (institution_id, client_id, due_at);
CREATE INDEX logout_notices_due ON logout_notices USING btree (institution_id, due_at);
comment on table logout_notices is 'Sessions that have ended, a row for each app that has yet to hear of it. Written by the transaction that ends the session, deleted when the app has accepted.';
comment on column logout_notices.attempts is 'Attempts that were begun.';
comment on column logout_notices.due_at is 'The next attempt. A process that begins one moves it, so that no other process sends meanwhile.';
comment on column logout_notices.host is 'That of the session: the issuer that the app knows it from.';

-- ---------------------------------------------------------------------------------------------------------
-- event archive

create table event_horizons (
  institution_id  integer not null,
  epoch           integer not null,
  xid             xid8 not null,
  event_key       bigint not null,
  number          bigint not null,
  constraint event_horizons_pkey PRIMARY KEY (institution_id),
  constraint event_horizons_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint event_horizons_number_check CHECK (number > 0)
);
comment on table event_horizons is 'The last event of each institution in the partitions that were closed. The feed begins behind it. An institution without a row has all of its events.';
comment on column event_horizons.number is 'Number of that event in the feed.';

create table event_archived_entries (
  institution_id  integer not null,
  account_key     bigint not null,
  entries         bigint not null,
  seq_sum         numeric not null,
  last_seq        bigint not null,
  constraint event_archived_entries_pkey PRIMARY KEY (institution_id, account_key),
  constraint event_archived_entries_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint event_archived_entries_entries_check CHECK (entries > 0),
  constraint event_archived_entries_last_seq_check CHECK (last_seq > 0),
  constraint event_archived_entries_seq_sum_check CHECK (seq_sum > 0::numeric)
);
comment on table event_archived_entries is 'The entries of an account whose events are in the archive, so that reconcile knows that each entry has had one.';
comment on column event_archived_entries.seq_sum is 'Sum of the numbers of those entries on the account.';
comment on column event_archived_entries.last_seq is 'The highest of them.';

-- ---------------------------------------------------------------------------------------------------------
-- client certificates

create table client_certificates (
  institution_id  integer not null,
  client_id       text collate "C" not null,
  thumbprint      text collate "C" not null,
  expires_at      timestamp with time zone not null,
  created_at      timestamp with time zone not null,
  constraint client_certificates_pkey PRIMARY KEY (institution_id, client_id, thumbprint),
  constraint client_certificates_institution_id_client_id_fkey FOREIGN KEY (institution_id, client_id) REFERENCES clients(institution_id, client_id),
  constraint client_certificates_thumbprint_check CHECK (thumbprint ~ '^[A-Za-z0-9_-]{43}$'::text)
);
comment on table client_certificates is 'Certificates of clients that authenticate by self_signed_tls_client_auth (RFC 8705 section 2.2).';
comment on column client_certificates.thumbprint is 'SHA-256 of the certificate in DER, in base64url: x5t#S256.';
comment on column client_certificates.expires_at is 'The end of its validity, for people. The certificate itself decides.';

-- ---------------------------------------------------------------------------------------------------------
-- reconcile findings

create table reconcile_results (
  institution_id  integer not null,
  run_key         bigint not null generated always as identity,
  started_at      timestamp with time zone not null,
  finished_at     timestamp with time zone not null,
  changed_since   timestamp with time zone,
  findings        integer not null,
  kept            integer not null,
  constraint reconcile_results_pkey PRIMARY KEY (institution_id, run_key),
  constraint reconcile_results_institution_id_fkey FOREIGN KEY (institution_id) REFERENCES institutions(institution_id),
  constraint reconcile_results_kept CHECK (kept >= 0 AND kept <= findings AND (kept = 0) = (findings = 0))
);
comment on table reconcile_results is 'Complete runs of reconcile. A run never changes.';
comment on column reconcile_results.changed_since is 'The checkpoint behind which the run looked for changes. Null: it checked every row.';
comment on column reconcile_results.findings is 'Rows that break a rule.';
comment on column reconcile_results.kept is 'Those of them that stand in reconcile_findings: the first hundred of each kind.';

create table reconcile_findings (
  institution_id  integer not null,
  run_key         bigint not null,
  place           integer not null,
  kind            text not null,
  subject         text not null,
  detail          text not null,
  account_id      text collate "C",
  entry           bigint,
  transfer_id     text collate "C",
  expected        numeric,
  found           numeric,
  currency        text collate "C",
  constraint reconcile_findings_pkey PRIMARY KEY (institution_id, run_key, place),
  constraint reconcile_findings_institution_id_run_key_fkey FOREIGN KEY (institution_id, run_key) REFERENCES reconcile_results(institution_id, run_key) ON DELETE CASCADE,
  constraint reconcile_findings_account_id_check CHECK (length(account_id) >= 1 AND length(account_id) <= 64),
  constraint reconcile_findings_amounts CHECK (num_nulls(expected, found, currency) = 3 OR num_nulls(expected, found, currency) = 0 AND expected <> found AND scale(expected) = 0 AND scale(found) = 0),
  constraint reconcile_findings_currency_check CHECK (currency ~ '^[A-Z]{3}$'::text),
  constraint reconcile_findings_detail_check CHECK (length(detail) >= 1 AND length(detail) <= 1000),
  constraint reconcile_findings_entry CHECK (entry IS NULL OR entry > 0 AND account_id IS NOT NULL),
  constraint reconcile_findings_kind_check CHECK (kind = ANY (ARRAY['trial-balance'::text, 'posting-sum'::text, 'account-balance'::text, 'balance-posted'::text, 'balance-newest-entry'::text, 'entry-of-no-account'::text, 'entry-gap'::text, 'entry-running-balance'::text, 'entry-time'::text, 'ahead-of-clock'::text, 'hold-out'::text, 'hold-in'::text, 'entry-held'::text, 'entry-transfer'::text, 'transfer-entries'::text, 'transfer-id'::text, 'used-id'::text, 'transfer-accounts'::text, 'pending-terms'::text, 'core-instruction'::text, 'reversal'::text, 'loan-payment'::text, 'loan-dues'::text, 'limit-counter'::text, 'limit-use'::text, 'contribution-use'::text, 'core-entry'::text, 'core-transaction'::text, 'event-gap'::text, 'event-entry'::text, 'event-transfer'::text])),
  constraint reconcile_findings_place_check CHECK (place >= 1),
  constraint reconcile_findings_subject_check CHECK (length(subject) >= 1 AND length(subject) <= 200),
  constraint reconcile_findings_transfer_id_check CHECK (length(transfer_id) >= 1 AND length(transfer_id) <= 64)
);
comment on table reconcile_findings is 'The rows that a run of reconcile found off, in the order in which it found them. Ids and amounts, no personal data.';
comment on column reconcile_findings.kind is 'The check that the row breaks.';
comment on column reconcile_findings.subject is 'The row, in words for people.';
comment on column reconcile_findings.detail is 'The difference in words. Amounts are in minor units.';
comment on column reconcile_findings.expected is 'In minor units. Null unless an amount differs.';

-- ---------------------------------------------------------------------------------------------------------
-- Functions, from sql/functions

CREATE OR REPLACE FUNCTION add_to_control_total(change numeric)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  -- No transfer orders openings and adjustments.
  if change is null then
    return;
  end if;
  update control_totals set total = total + change where transaction = pg_current_xact_id();
  if not found then
    insert into control_totals values (pg_current_xact_id(), change);
  end if;
end
$function$;
revoke execute on function add_to_control_total(numeric) from public;

CREATE OR REPLACE FUNCTION alert_figures(at timestamp with time zone, OUT lag_seconds double precision, OUT alerts_due integer, OUT mail_lag_seconds double precision, OUT mail_waiting integer, OUT mail_parked integer, OUT mail_suppressed integer)
 RETURNS record
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  most constant integer := 10000;
  each record;
  own record;
  present timestamptz;
begin
  lag_seconds := 0;
  alerts_due := 0;
  mail_lag_seconds := 0;
  mail_waiting := 0;
  mail_parked := 0;
  mail_suppressed := 0;
  for each in select i.institution_id as id, i.clock_ahead_seconds as ahead from public.institutions i where i.served = 'here' loop
    perform set_config('sharedraft.institution', each.id::text, true);
    present := at + make_interval(secs => each.ahead);

    -- The first event that no process has evaluated.
    select o.recorded_at as oldest into own
    from (select) one
    left join public.alert_positions p on p.institution_id = each.id
    cross join lateral (
      select o.recorded_at from public.outbox o
      where o.institution_id = each.id
        and (o.epoch, o.xid, o.event_key) > (coalesce(p.epoch, 0), coalesce(p.xid, '0'), coalesce(p.event_key, 0))
      order by o.epoch, o.xid, o.event_key limit 1) o;
    lag_seconds := greatest(lag_seconds, extract(epoch from present - own.oldest));

    select count(*) as due into own
    from (select from public.alerts a
          where a.institution_id = each.id and a.released_at is null and a.due_at <= present limit most) a;
    alerts_due := alerts_due + own.due;

    select count(*) as suppressed into own
    from (select from public.mail_suppressions s where s.institution_id = each.id limit most) s;
    mail_suppressed := mail_suppressed + own.suppressed;

    select e.endpoint_id as id, e.status, least(ahead.recorded_at, behind.recorded_at) as oldest into own
    from public.webhook_endpoints e
    left join lateral (
      select o.recorded_at from public.outbox o
      where o.institution_id = each.id and (o.epoch, o.xid, o.event_key) > (e.epoch, e.xid, e.event_key)
      order by o.epoch, o.xid, o.event_key limit 1) ahead on true
    left join lateral (
      select o.recorded_at
      from public.webhook_deliveries d
      join public.outbox o on o.institution_id = each.id and o.event_key = d.event_key
      where d.institution_id = each.id and d.endpoint_id = e.endpoint_id and d.state = 'WAITING'
      order by d.number limit 1) behind on true
    where e.institution_id = each.id and e.transport = 'SMTP';
    continue when own.id is null;
    if own.status = 'ACTIVE' then
      mail_lag_seconds := greatest(mail_lag_seconds, extract(epoch from present - own.oldest));
    end if;

    select count(*) filter (where d.state = 'WAITING') as waiting, count(*) filter (where d.state = 'PARKED') as parked into own
    from (
      select w.state from public.webhook_deliveries w
      where w.institution_id = each.id and w.endpoint_id = own.id limit most) d;
    mail_waiting := mail_waiting + own.waiting;
    mail_parked := mail_parked + own.parked;
  end loop;
end
$function$;
revoke execute on function alert_figures(timestamp with time zone) from public;
grant execute on function alert_figures(timestamp with time zone) to sharedraft_service;

CREATE OR REPLACE FUNCTION alerts_to_derive(at_time timestamp with time zone, asker uuid)
 RETURNS TABLE(institution integer)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  for institution in select i.institution_id from public.institutions i where i.served = 'here' loop
    perform set_config('sharedraft.institution', institution::text, true);
    if exists (select from alerts a
               where a.institution_id = institution and a.released_at is null and a.due_at <= at_time)
       or exists (
         select from (select) one
         left join alert_positions p on p.institution_id = institution
         where (p.lease_until is null or p.lease_until <= at_time or p.leased_by = asker)
           and (exists (
             select from institutions i
             where i.institution_id = institution
               and (at_time at time zone i.time_zone)::time >= '09:00'
               and (at_time at time zone i.time_zone)::date > coalesce(p.dues_seen_on, '-infinity')
               and exists (select from alert_rules r
                           where r.institution_id = institution and r.alert_type = 'PAYMENT_DUE'))
             -- Ordered, so that the index is read: "exists" expects a match soon and reads the table.
             or (
             select true from outbox o
             where o.institution_id = institution
               and (o.epoch, o.xid, o.event_key) > (coalesce(p.epoch, 0), coalesce(p.xid, '0'), coalesce(p.event_key, 0))
             order by o.epoch, o.xid, o.event_key limit 1)))
    then
      return next;
    end if;
  end loop;
end
$function$;
revoke execute on function alerts_to_derive(timestamp with time zone,uuid) from public;
grant execute on function alerts_to_derive(timestamp with time zone,uuid) to sharedraft_service;

CREATE OR REPLACE FUNCTION analyze_imported()
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  analyze (skip_locked) public.staged_persons, public.staged_members, public.staged_member_persons, public.staged_accounts,
    public.staged_holders, public.persons, public.customers, public.customer_persons, public.accounts, public.balances,
    public.loans, public.holders, public.entries;
end
$function$;
revoke execute on function analyze_imported() from public;
grant execute on function analyze_imported() to sharedraft_service;

CREATE OR REPLACE FUNCTION analyze_written()
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  analyze (skip_locked) public.persons, public.customers, public.customer_persons, public.accounts, public.balances,
    public.loans, public.holders, public.entries;
end
$function$;
revoke execute on function analyze_written() from public;
grant execute on function analyze_written() to sharedraft_service;

CREATE OR REPLACE FUNCTION audit_figures(at timestamp with time zone, OUT seal_lag_seconds double precision)
 RETURNS double precision
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  institution integer;
begin
  seal_lag_seconds := 0;
  for institution in select 0 union all select i.institution_id from public.institutions i where i.served = 'here' loop
    perform set_config('sharedraft.institution', institution::text, true);
    seal_lag_seconds := greatest(seal_lag_seconds, (
      select extract(epoch from at - e.recorded_at) from public.audit_entries e
      where e.institution_id = institution and e.chain_number is null order by e.audit_key limit 1));
  end loop;
end
$function$;
revoke execute on function audit_figures(timestamp with time zone) from public;
grant execute on function audit_figures(timestamp with time zone) to sharedraft_service;

CREATE OR REPLACE FUNCTION begin_epochs_of_timeline(at timestamp with time zone)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET lock_timeout TO '9s'
AS $function$
declare
  current text;
  known text;
  first_known xid8;
  institution integer;
  last_of_all xid8;
  lost_from numeric;
begin
  if pg_is_in_recovery() then
    raise exception 'the server is a standby' using errcode = 'read_only_sql_transaction';
  end if;
  current := (select format('%s/%s', c.system_identifier, left(pg_walfile_name(pg_current_wal_lsn()), 8))
              from pg_control_system() c);
  known := (select t.timeline from public.event_timeline t);
  if known = current then
    return false;
  end if;
  -- A connection made at the same time waits, and then reads the new timeline.
  perform pg_advisory_xact_lock(7305103);
  select t.timeline, t.first_transaction into known, first_known from public.event_timeline t;
  if known = current then
    return false;
  end if;
  if known is null then
    insert into public.event_timeline (timeline, first_transaction) values (current, pg_current_xact_id());
    return false;
  end if;
  -- Another cluster has other numbers.
  if split_part(known, '/', 1) <> split_part(current, '/', 1) then
    first_known := '3';
  end if;
  update public.event_timeline set timeline = current, first_transaction = pg_current_xact_id();
  lock table public.outbox in share mode;
  -- Events of an earlier epoch may be of another cluster: of a restore, or of the cell that an institution came from.
  for institution in select i.institution_id from public.institutions i where i.served = 'here' loop
    perform set_config('sharedraft.institution', institution::text, true);
    last_of_all := greatest(last_of_all, (
      select n.xid from newest_event(institution) n where n.epoch = (
        select coalesce(max(e.epoch), 0) from public.event_epochs e where e.institution_id = institution)));
  end loop;
  -- A lost transaction has the status of one that was rolled back, even if a transaction with a higher number was kept. Only those of
  -- the timeline that has ended can be lost; each of the service comes after its first one, which was here. Numbers from another
  -- cluster's data that this cluster has not assigned yet have no status.
  lost_from := (
    select min(x) from generate_series(greatest(last_of_all::text::numeric - 10000, first_known::text::numeric),
                                       least(last_of_all::text::numeric,
                                             pg_snapshot_xmin(pg_current_snapshot())::text::numeric - 1)) x
    where pg_xact_status(x::text::xid8) = 'aborted');
  for institution in select i.institution_id from public.institutions i where i.served = 'here' loop
    perform set_config('sharedraft.institution', institution::text, true);
    insert into public.event_epochs (institution_id, epoch, started_at, last_before)
    select institution, 1 + greatest(newest.epoch, present.epoch), at,
           case when newest.epoch < present.epoch then '0'::xid8
                when lost_from <= newest.xid::text::numeric then (lost_from - 1)::text::xid8
                else newest.xid end
    from newest_event(institution) newest,
         (select coalesce(max(e.epoch), 0) as epoch from public.event_epochs e where e.institution_id = institution) present;
  end loop;
  return true;
end
$function$;
revoke execute on function begin_epochs_of_timeline(timestamp with time zone) from public;
grant execute on function begin_epochs_of_timeline(timestamp with time zone) to sharedraft_service;

CREATE OR REPLACE FUNCTION begin_event_epoch(at timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET lock_timeout TO '9s'
AS $function$
declare
  institution constant integer := current_setting('sharedraft.institution');
  newest constant integer := (
    select coalesce(max(e.epoch), 0) from public.event_epochs e where e.institution_id = institution);
begin
  lock table public.outbox in share mode;
  insert into public.event_epochs (institution_id, epoch, started_at, last_before)
  select institution, newest + 1, at, coalesce(
    (select n.xid from newest_event(institution) n where n.epoch = newest), '0');
end
$function$;
revoke execute on function begin_event_epoch(timestamp with time zone) from public;
grant execute on function begin_event_epoch(timestamp with time zone) to sharedraft_service;

CREATE OR REPLACE FUNCTION bind_to_institution(VARIADIC tenants regclass[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  tenant regclass;
begin
  foreach tenant in array tenants loop
    execute format('alter table %s enable row level security', tenant);
    execute format('alter table %s force row level security', tenant);
    execute format(
      'create policy institution on %s using (institution_id = (select current_setting(''sharedraft.institution'')::integer))',
      tenant);
  end loop;
end
$function$;
revoke execute on function bind_to_institution(regclass[]) from public;

CREATE OR REPLACE FUNCTION break_figures(at timestamp with time zone)
 RETURNS TABLE(class text, open integer, oldest_seconds double precision)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  each record;
begin
  for each in
    select i.institution_id as id, i.clock_ahead_seconds as ahead from public.institutions i
    where i.record = 'core' and i.served = 'here'
  loop
    perform set_config('sharedraft.institution', each.id::text, true);
    return query
      select b.class, count(*)::integer,
             extract(epoch from at + make_interval(secs => each.ahead) - min(b.opened_at))::double precision
      from public.core_breaks b where b.institution_id = each.id and b.closed_at is null
      group by b.class;
  end loop;
end
$function$;
revoke execute on function break_figures(timestamp with time zone) from public;
grant execute on function break_figures(timestamp with time zone) to sharedraft_service;

CREATE OR REPLACE FUNCTION changes_since(since pg_snapshot, institutions integer[], known_to integer[], account_keys bigint[], seqs bigint[], OUT at pg_snapshot, OUT is_kept boolean, OUT changed bigint[], OUT moved integer[])
 RETURNS record
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  institution integer;
  -- The ends of a run of balances of one institution.
  first integer := 1;
  last integer;
  -- A transaction was invisible if it had not begun, or was still running.
  next_xid xid8 := pg_snapshot_xmax(since);
  running xid8[];
  has_changed boolean;
begin
  at := pg_current_snapshot();
  if pg_snapshot_xmin(since) <> next_xid then
    running := array(select pg_snapshot_xip(since));
  end if;
  select k.kept_from <= pg_snapshot_xmin(since),
         exists (select from public.changes c where c.xid >= next_xid)
         or running is not null and exists (select from public.changes c where c.xid = any (running))
  into is_kept, has_changed
  from public.changes_kept k;
  is_kept := coalesce(is_kept, false);
  if is_kept and has_changed then
    changed := array(
      select (c.institution_id::bigint << 16) + c.subject from public.changes c where c.xid >= next_xid
      union
      select (c.institution_id::bigint << 16) + c.subject from public.changes c where c.xid = any (running));
  end if;
  while first <= cardinality(known_to) loop
    institution := known_to[first];
    last := first;
    while known_to[last + 1] = institution loop
      last := last + 1;
    end loop;
    perform set_config('sharedraft.institution', institution::text, true);
    moved := moved || array(
      select first - 1 + known.place::integer
      from unnest(account_keys[first:last], seqs[first:last]) with ordinality as known (account_key, seq, place)
      where known.seq is distinct from (
        select b.seq from public.balances b where b.institution_id = institution and b.account_key = known.account_key));
    first := last + 1;
  end loop;
end
$function$;
revoke execute on function changes_since(pg_snapshot,integer[],integer[],bigint[],bigint[]) from public;
grant execute on function changes_since(pg_snapshot,integer[],integer[],bigint[],bigint[]) to sharedraft_service;

CREATE OR REPLACE FUNCTION check_account_closed()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if not new.closed_by_operator then
    raise exception 'accounts: an account that an operator closed stays closed' using errcode = 'SD025';
  end if;
  if exists (select from institutions i where i.institution_id = new.institution_id and i.record = 'core') then
    raise exception 'accounts: the core closes the accounts that it keeps' using errcode = 'SD025';
  end if;
  if not exists (
    select from balances b
    where b.institution_id = new.institution_id and b.account_key = new.account_key and b.closed
  ) then
    raise exception 'accounts: an account closes with its balance' using errcode = 'SD025';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_approval_by_another_person()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  -- Of two approvals at once, the second waits here and then reads the first.
  perform from pending_transfers p
  where p.institution_id = new.institution_id and p.transfer_key = new.transfer_key for no key update;
  if exists (
    select from transfer_approvals a
    where a.institution_id = new.institution_id and a.transfer_key = new.transfer_key
      and share_a_person(array[a.operator, a.sudo_user], array[new.operator, new.sudo_user])
  ) then
    raise exception 'transfers: one person cannot approve a transfer twice' using errcode = 'SD021';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_audit_entry_kept()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if tg_op = 'DELETE' then
    if old.chain_number > coalesce((
      select c.pruned_to from audit_chains c
      where c.institution_id = old.institution_id and c.chain = old.chain), 0) then
      raise exception 'audit: a sealed entry cannot be deleted' using errcode = 'SD110';
    end if;
    return old;
  end if;
  if new.erased_at is null
     or (to_jsonb(new) - '{address,name_hash,stated_reason,personal,personal_salt,erased_at}'::text[])
        is distinct from (to_jsonb(old) - '{address,name_hash,stated_reason,personal,personal_salt,erased_at}'::text[]) then
    raise exception 'audit: a sealed entry cannot be changed' using errcode = 'SD110';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_authenticator()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if new.last_step < old.last_step or (new.last_step = old.last_step and new.last_used_at is distinct from old.last_used_at) then
    raise exception 'authenticator %: step % does not follow %', old.authenticator_id, new.last_step, old.last_step
      using errcode = 'SD215';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_authorization_grant()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if old.exchanged_at is not null or new.exchanged_at >= old.expires_at then
    raise exception 'authorization grant %: its code was exchanged or has expired', old.grant_id using errcode = 'SD205';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_balances()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if exists (
    select from became b
    left join lateral (
      select e.seq, e.posted_after, e.debits_pending_after, e.credits_pending_after, e.recorded_at from entries e
      where e.institution_id = b.institution_id and e.account_key = b.account_key and e.seq >= b.seq
      order by e.seq desc limit 1
    ) e on true
    where (b.seq, b.posted, b.debits_pending, b.credits_pending, b.last_at) is distinct from
            (coalesce(e.seq, 0), coalesce(e.posted_after, 0), coalesce(e.debits_pending_after, 0),
             coalesce(e.credits_pending_after, 0), coalesce(e.recorded_at, b.last_at))
  ) then
    raise exception 'ledger: a balance differs from its newest entry' using errcode = 'SD003';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION check_break_adjusted()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if not exists (
    select from entries e
    where e.institution_id = new.institution_id and e.account_key = new.account_key and e.seq = new.adjusted_seq
      and e.kind = 'ADJUSTMENT' and e.amount = new.difference and e.xmin = pg_current_xact_id()::xid
  ) then
    raise exception 'core_breaks: no adjustment has posted the difference of break %', new.break_key using errcode = 'SD081';
  end if;
  if requires_dual_control(new.institution_id) and not exists (
    select from proposals p
    where p.institution_id = new.institution_id and p.kind = 'ADJUSTMENT' and p.subject = new.break_key::text
      and (p.account_id, p.currency, p.amount) = (new.account_id, new.currency, new.difference)
      and p.confirmed_xid = pg_current_xact_id()
  ) then
    raise exception 'core_breaks: break % is adjusted without dual control: no second person confirmed its amount', new.break_key
      using errcode = 'SD082';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_consent()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if old.ended_at is not null then
    raise exception 'consent %: it has ended for good', old.consent_id using errcode = 'SD204';
  end if;
  if not new.scopes <@ old.scopes or (new.all_accounts and not old.all_accounts) then
    raise exception 'consent %: it cannot become wider', old.consent_id using errcode = 'SD216';
  end if;
  new.version := old.version + 1;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_consent_account()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if tg_op = 'UPDATE' then
    if new.may_pay then
      raise exception 'consent %: it cannot become wider', new.consent_id using errcode = 'SD216';
    end if;
    return new;
  end if;
  if not exists (
    select from consents s
    where s.institution_id = new.institution_id and s.consent_id = new.consent_id and s.ended_at is null
      and (s.all_accounts or s.version = 0 and s.xmin = pg_current_xact_id()::xid)) then
    raise exception 'consent %: it cannot become wider', new.consent_id using errcode = 'SD216';
  end if;
  if not exists (
    select from consents s
    join users u on u.institution_id = s.institution_id and u.user_key = s.user_key
    join holders h on h.institution_id = s.institution_id and h.person_key = u.person_key
    where s.institution_id = new.institution_id and s.consent_id = new.consent_id and h.account_key = new.account_key
      and (h.may_pay or not new.may_pay)) then
    raise exception 'consent %: its member does not hold the account so', new.consent_id using errcode = 'SD217';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_control_total()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  final numeric;
begin
  delete from control_totals where transaction = new.transaction returning total into final;
  if final <> 0 then
    raise exception 'ledger: the entries and the transfers of this transaction differ' using errcode = 'SD017';
  end if;
  return null;
end
$function$;
revoke execute on function check_control_total() from public;

CREATE OR REPLACE FUNCTION check_core_transactions()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET enable_seqscan TO 'off'
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  control numeric;
begin
  if exists (
    select from written c
    left join lateral (
      select e.posting_key, e.amount, e.kind from entries e
      where e.institution_id = c.institution_id and e.account_key = c.account_key and e.seq = c.seq
      offset 0
    ) e on true
    where (e.posting_key, e.amount, e.kind)
          is distinct from (c.posting_key, c.amount, case when c.settlement_key is null then 'TRANSFER' else 'CORE' end)
  ) then
    raise exception 'core: a transaction differs from its entry' using errcode = 'SD060';
  end if;
  select -sum(control_number('CORE', c.posting_key, c.account_key, c.amount)::numeric
              + control_number('CORE', c.posting_key, c.settlement_key, -c.amount))
  into control
  from written c where c.settlement_key is not null;
  perform add_to_control_total(control);
  return null;
end
$function$;
revoke execute on function check_core_transactions() from public;

CREATE OR REPLACE FUNCTION check_entries()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET enable_seqscan TO 'off'
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  unbalanced boolean;
  broken boolean;
  unbounded boolean;
  unordered boolean;
  control numeric;
begin
  -- A flag is true if its rule is broken:
  -- unbalanced: the amounts of a posting sum to zero; both sides have one currency, and accounts whose balance includes the
  --   entry; pending debits on one side equal pending credits on the other.
  -- broken: an entry continues the one before it and is not older; pending amounts change as its kind says.
  -- unbounded: an entry that lowers a deposit account's available balance carries a floor.
  -- unordered: an opening, an adjustment or an act of the core is between a member's account and one of the institution's own.
  select bool_or(x.unbalanced), bool_or(x.broken), bool_or(x.unbounded), bool_or(x.unordered), sum(x.control)
  into unbalanced, broken, unbounded, unordered, control
  from (
    select sum(e.amount) <> 0 or count(*) % 2 <> 0 or count(e.currency) <> count(*)
             or min(e.currency) <> max(e.currency) or sum(e.debits_pending) <> sum(e.credits_pending) as unbalanced,
           bool_or(
             e.posted <> e.amount or not e.follows
             or not case e.act
                  when 'TRANSFER' then
                    (e.debits_pending = 0 and e.credits_pending = 0)
                    or (e.debits_pending = least(e.amount, 0) and e.credits_pending = least(-e.amount, 0))
                  when 'HOLD' then e.debits_pending >= 0 and e.credits_pending >= 0
                    and (e.debits_pending > 0) <> (e.credits_pending > 0)
                  when 'RELEASE' then e.debits_pending <= 0 and e.credits_pending <= 0
                    and (e.debits_pending < 0) <> (e.credits_pending < 0)
                  else e.debits_pending = 0 and e.credits_pending = 0
                end) as broken,
           -- Reads the account in few cases: a reversal raises a debt again, without a floor.
           bool_or(case when e.kind in ('TRANSFER', 'HOLD') and e.floor is null and e.posted < e.debits_pending then
             (select a.category not in ('LOAN', 'CREDIT') from accounts a
              where a.institution_id = e.institution_id and a.account_key = e.account_key) end) as unbounded,
           bool_or(e.own is not null) and (count(*) <> 2 or count(*) filter (where e.own) <> 1) as unordered,
           sum(case e.kind
                 when 'TRANSFER' then control_number(
                   case when e.debits_pending = 0 and e.credits_pending = 0 then e.kind else 'SETTLEMENT' end,
                   e.posting_key, e.account_key, e.amount)
                 when 'CORE' then control_number(e.kind, e.posting_key, e.account_key, e.amount)
                 when 'OPENING' then null
                 when 'ADJUSTMENT' then null
                 else control_number(e.kind, e.posting_key, e.account_key, e.credits_pending - e.debits_pending)
               end) as control
    from (
      select e.institution_id, e.account_key, e.posting_key, e.kind, e.amount, e.floor, b.currency,
             e.posted_after - coalesce(p.posted_after, 0) as posted,
             e.debits_pending_after - coalesce(p.debits_pending_after, 0) as debits_pending,
             e.credits_pending_after - coalesce(p.credits_pending_after, 0) as credits_pending,
             case e.kind when 'CORE_HOLD' then 'HOLD' when 'CORE_RELEASE' then 'RELEASE' else e.kind end as act,
             case when e.kind not in ('TRANSFER', 'HOLD', 'RELEASE') then
               (select a.purpose is not null from accounts a
                where a.institution_id = e.institution_id and a.account_key = e.account_key) end as own,
             case when e.seq = 1 then p.seq is null else coalesce(p.recorded_at <= e.recorded_at, false) end as follows
      from written e
      left join lateral (
        select b.currency from balances b
        where b.institution_id = e.institution_id and b.account_key = e.account_key and b.seq >= e.seq
        offset 0
      ) b on true
      left join lateral (
        select p.seq, p.posted_after, p.debits_pending_after, p.credits_pending_after, p.recorded_at from entries p
        where p.institution_id = e.institution_id and p.account_key = e.account_key and p.seq = e.seq - 1
        offset 0
      ) p on true
    ) e
    group by e.institution_id, e.posting_key
  ) x;
  if unbalanced then
    raise exception 'ledger: the entries of a posting must sum to zero in one currency, on accounts that exist'
      using errcode = 'SD001';
  end if;
  if broken then
    raise exception 'ledger: an entry does not continue the one before it' using errcode = 'SD002';
  end if;
  if unbounded then
    raise exception 'ledger: a debit of a deposit account carries no floor' using errcode = 'SD018';
  end if;
  if unordered then
    raise exception 'ledger: an opening, an adjustment or an act of the core needs an account of the institution as its other side'
      using errcode = 'SD019';
  end if;
  perform add_to_control_total(control);
  return null;
end
$function$;
revoke execute on function check_entries() from public;

CREATE OR REPLACE FUNCTION check_event_mark()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if new.number <> event_number(new.institution_id, new.epoch, new.xid, new.event_key)
     or new.xid >= pg_snapshot_xmin(pg_current_snapshot()) and new.epoch = (
       select coalesce(max(e.epoch), 0) from event_epochs e where e.institution_id = new.institution_id) then
    raise exception 'event_marks: % is not the number of its event', new.number using errcode = 'SD090';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_event_secret_deleted()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if num_nonnulls(new.secret, new.secret_expires_at) > 0 then
    raise exception 'events: a secret can only be deleted' using errcode = 'SD014';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_event_writer()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  raise exception 'events: the transaction writes events of institution % only', current_setting('sharedraft.events_of') using errcode = 'SD028';
end
$function$;

CREATE OR REPLACE FUNCTION check_fapi2_client()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if exists (select from client_secrets s where s.institution_id = new.institution_id and s.client_id = new.client_id)
     or exists (select from client_keys k
                where k.institution_id = new.institution_id and k.client_id = new.client_id
                  and (k.algorithm = 'RS256'
                    or exists (select from client_certificates c
                               where c.institution_id = new.institution_id and c.client_id = new.client_id))) then
    raise exception 'client %: the FAPI 2.0 profile excludes its secrets, keys or certificates', new.client_id using errcode = 'SD208';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_fapi2_credential()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  profile text;
begin
  select c.security_profile into profile from clients c
  where c.institution_id = new.institution_id and c.client_id = new.client_id for update;
  if profile is distinct from 'FAPI2' then
    return new;
  end if;
  if tg_table_name = 'client_secrets'
     or tg_table_name = 'client_keys' and (
       to_jsonb(new) ->> 'algorithm' = 'RS256'
       or exists (select from client_certificates c where c.institution_id = new.institution_id and c.client_id = new.client_id))
     or tg_table_name = 'client_certificates'
       and exists (select from client_keys k where k.institution_id = new.institution_id and k.client_id = new.client_id) then
    raise exception 'client %: the FAPI 2.0 profile excludes this secret, key or certificate', new.client_id using errcode = 'SD208';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_fence()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  institution constant integer := case tg_op when 'DELETE' then old.institution_id else new.institution_id end;
  state text;
begin
  -- The move itself. The service's login may not write this column.
  if tg_table_name = 'institutions' and tg_op = 'UPDATE' then
    if new.served <> old.served then
      return new;
    end if;
  end if;
  perform pg_advisory_xact_lock_shared(7305108, institution);
  -- A statement of its own: it sees what was committed while the lock was waited for.
  state := (select i.served from institutions i where i.institution_id = institution);
  if state in ('arriving', 'leaving') then
    raise exception 'institution % is moving', institution using errcode = 'SD150';
  elsif state in ('left', 'gone') then
    raise exception 'institution % is served by another cell', institution using errcode = 'SD151';
  end if;
  return case tg_op when 'DELETE' then old else new end;
end
$function$;

CREATE OR REPLACE FUNCTION check_holds_screened()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if exists (
    select from written p
    cross join lateral (
      select from transfer_screenings s
      where s.institution_id = p.institution_id and s.transfer_key = p.transfer_key and s.verdict = 'HOLD'
      offset 0
    ) s
    where p.held_for <> 'REVIEW' or p.when_due <> 'EXPIRE' or p.approvals_needed = 0
  ) then
    raise exception 'transfers: a transfer that screening holds needs an approval' using errcode = 'SD213';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION check_instruction()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if not exists (
    select from core_instructions i
    join transfers t on t.institution_id = i.institution_id and t.transfer_key = i.instruction_key
      and (t.from_key, t.to_key, t.amount, t.currency) = (i.from_key, i.to_key, i.amount, i.currency)
    where i.institution_id = new.institution_id and i.instruction_key = new.instruction_key
      and case i.state
            when 'OPEN' then
              case i.mode when 'WAIT' then t.status = 'PENDING' and exists (
                select from pending_transfers p
                where p.institution_id = t.institution_id and p.transfer_key = t.transfer_key and p.held_for = 'CORE')
              else t.status = 'COMPLETED' end
            when 'ACCEPTED' then t.status = 'COMPLETED'
            when 'WITHDRAWN' then t.status = 'FAILED'
            when 'REJECTED' then t.status = 'FAILED' or t.reverses_key is not null or exists (
              select from transfers r
              where r.institution_id = t.institution_id and r.reverses_key = t.transfer_key and r.reverses_key is not null
                and r.status = 'COMPLETED')
          end
  ) then
    raise exception 'instructions: an instruction and its transfer differ' using errcode = 'SD071';
  end if;
  if tg_op = 'INSERT' and new.mode = 'MEMO' and not exists (
    select from transfers t
    where t.institution_id = new.institution_id and t.transfer_key = new.instruction_key
      and (t.reverses_key is not null or exists (
        select from accounts a
        join accounts b on b.institution_id = a.institution_id and b.customer_key = a.customer_key
        where a.institution_id = t.institution_id and a.account_key = t.from_key and b.account_key = t.to_key))
  ) then
    raise exception 'instructions: a transfer between two memberships waits for the core' using errcode = 'SD072';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION check_instruction_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if old.state <> 'OPEN' then
    raise exception 'instructions: the outcome of instruction % is final', old.sequence using errcode = 'SD070';
  end if;
  if new.delivered_at is distinct from coalesce(old.delivered_at, new.delivered_at)
     or new.file_number is distinct from coalesce(old.file_number, new.file_number)
     or new.state in ('ACCEPTED', 'REJECTED') and new.delivered_at is null then
    raise exception 'instructions: instruction % was delivered', old.sequence using errcode = 'SD070';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_limit_counter_lowered()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if exists (
    select from (
      select coalesce(sum(u.amount), 0) as amount, count(*) as transfers
      from limit_uses u
      where u.institution_id = old.institution_id and u.limit_key = old.limit_key
        and u.subject_key = old.subject_key and u.period_start = old.period_start
        and limit_use_is_released(u.institution_id, u.transfer_key, u.limit_key)
    ) back
    where old.amount - new.amount > back.amount or old.transfers - new.transfers > back.transfers
  ) then
    raise exception 'limits: a counter is lowered by more than failed and reversed transfers release' using errcode = 'SD012';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_limit_use()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if not exists (
    select from transfers t
    where t.institution_id = new.institution_id and t.transfer_key = new.transfer_key and t.amount = new.amount
      and (t.status = 'PENDING' or (new.limit_key = 0 and t.status = 'COMPLETED'))
  ) then
    raise exception 'limits: a use belongs to no such transfer' using errcode = 'SD013';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION check_limit_use_removed()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if not limit_use_is_released(old.institution_id, old.transfer_key, old.limit_key) and not exists (
    select from transfers t
    where t.institution_id = old.institution_id and t.transfer_key = old.transfer_key and t.status = 'COMPLETED'
      and old.limit_key <> 0
  ) then
    raise exception 'limits: a use that still counts was removed' using errcode = 'SD013';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION check_loan_payments()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if exists (
    select from written p
    left join lateral (
      select e.amount from entries e
      where e.institution_id = p.institution_id and e.account_key = p.account_key and e.seq = p.seq
      offset 0
    ) e on true
    where e.amount is distinct from p.to_fees + p.to_interest + p.to_principal
  ) then
    raise exception 'loans: the parts of a payment do not add up to its amount' using errcode = 'SD008';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION check_new_authorization_grant()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if new.consent_id is null then
    if not (select c.is_first_party from clients c where c.institution_id = new.institution_id and c.client_id = new.client_id) then
      raise exception 'authorization grant %: the app needs a consent', new.grant_id using errcode = 'SD206';
    end if;
  elsif not exists (
    select from consents s
    where s.institution_id = new.institution_id and s.consent_id = new.consent_id and s.client_id = new.client_id
      and s.user_key = new.user_key and s.ended_at is null and s.expires_at > new.created_at and new.scopes <@ s.scopes) then
    raise exception 'authorization grant %: no consent covers it', new.grant_id using errcode = 'SD206';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_new_balances()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if exists (
    select from written b
    left join lateral (
      select a.account_id, a.currency from accounts a
      where a.institution_id = b.institution_id and a.account_key = b.account_key
      offset 0
    ) a on true
    left join lateral (
      select e.seq, e.posted_after, e.debits_pending_after, e.credits_pending_after, e.recorded_at from entries e
      where e.institution_id = b.institution_id and e.account_key = b.account_key and e.seq >= b.seq
      order by e.seq desc limit 1
    ) e on true
    where (b.seq, b.posted, b.debits_pending, b.credits_pending, b.last_at) is distinct from
            (coalesce(e.seq, 0), coalesce(e.posted_after, 0), coalesce(e.debits_pending_after, 0),
             coalesce(e.credits_pending_after, 0), coalesce(e.recorded_at, b.last_at))
       or (a.account_id, a.currency) is distinct from (b.account_id, b.currency)
  ) then
    raise exception 'ledger: a new balance must equal its newest entry and belong to an account that exists'
      using errcode = 'SD004';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION check_new_refresh_family()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if exists (
    select from clients c
    where c.institution_id = new.institution_id and c.client_id = new.client_id
      and (c.requires_dpop and new.key_thumbprint is null
        or c.binds_to_certificate and new.certificate_thumbprint is null)) then
    raise exception 'refresh family %: its client needs a key or a certificate', new.family_id using errcode = 'SD207';
  end if;
  new.consent_id := (
    select g.consent_id from authorization_grants g
    where g.institution_id = new.institution_id and g.grant_id = new.family_id);
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_operator()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if tg_op = 'UPDATE' then
    if old.status = 'ENDED' then
      raise exception 'operators: an operator who has ended stays so' using errcode = 'SD140';
    end if;
    if new.status = 'INVITED' and old.status <> 'INVITED' then
      raise exception 'operators: only a new operator is invited' using errcode = 'SD140';
    end if;
    if old.status = 'INVITED' and new.status = 'SUSPENDED' then
      raise exception 'operators: an invited operator becomes active or ends' using errcode = 'SD140';
    end if;
  else
    if (new.source = 'INVITATION') <> (new.status = 'INVITED') then
      raise exception 'operators: an operator begins with an invitation or with a sign-in' using errcode = 'SD140';
    end if;
    if new.source = 'DEMO'
      and not exists (select from institutions i where i.institution_id = new.institution_id and i.demo) then
      raise exception 'operators: the institution is no demo' using errcode = 'SD140';
    end if;
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_operator_acts()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if not exists (
    select from operators o
    where o.institution_id = new.institution_id and o.operator_id = new.operator_id and o.name = new.operator
      and o.status = 'ACTIVE'
      and (new.action not in ('transfer.approved', 'transfer.declined', 'transfer.reversal_proposed',
                              'transfer.reversal_confirmed', 'transfer.reversed')
           or 'approver' = any (o.roles))) then
    raise exception 'audit: the operator is not active, or may not decide on transfers' using errcode = 'SD141';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_operator_passkey()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if not exists (
    select from operators o
    where o.institution_id = new.institution_id and o.operator_id = new.operator_id and o.status = 'ACTIVE'
      and o.source = 'INVITATION') then
    raise exception 'operators: the operator is not active, or has no passkeys' using errcode = 'SD142';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_operator_session()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if not exists (
    select from operators o
    where o.institution_id = new.institution_id and o.operator_id = new.operator_id and o.status = 'ACTIVE'
      and o.source = case new.method when 'passkey' then 'INVITATION' when 'provider' then 'PROVIDER' else 'DEMO' end
      and (o.source <> 'PROVIDER' or exists (
        select from operator_providers p where p.institution_id = o.institution_id and p.issuer = o.provider_issuer))) then
    raise exception 'operators: the operator is not active, or signs in another way' using errcode = 'SD142';
  end if;
  if new.kind = 'COMMAND_LINE' and not exists (
    select from operator_device_requests d
    join operator_sessions s
      on s.institution_id = d.institution_id and s.session_id = d.session_id and s.operator_id = d.operator_id
    where d.institution_id = new.institution_id and d.operator_id = new.operator_id and d.is_approved
      and (d.method, d.authenticated_at) = (new.method, new.authenticated_at) and s.ended_at is null) then
    raise exception 'operators: no session that has not ended approved this command line' using errcode = 'SD143';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_passkey()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if new.sign_count <= old.sign_count and (new.sign_count, old.sign_count) <> (0, 0) then
    raise exception 'passkey %: the counter % does not follow %', old.passkey_id, new.sign_count, old.sign_count
      using errcode = 'SD211';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_pending_terms()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if new.held_for = 'CORE' then
    if old.held_for = 'CORE' or not exists (
      select from core_instructions i
      where i.institution_id = new.institution_id and i.instruction_key = new.transfer_key
        and i.mode = 'WAIT' and i.state = 'OPEN'
        and (old.when_due = 'POST' and old.due_at <= i.issued_at and not exists (
               select from transfers t
               join users u on u.institution_id = t.institution_id and u.user_key = t.user_key
               where t.institution_id = new.institution_id and t.transfer_key = new.transfer_key
                 and (u.locked_by_operator or not u.active))
             or old.held_for = 'REVIEW' and (old.when_due = 'POST' or i.issued_at < old.due_at)
                and (old.not_before is null or old.not_before <= i.issued_at)
                and old.approvals_needed <= (
                  select count(*) from transfer_approvals a
                  where a.institution_id = new.institution_id and a.transfer_key = new.transfer_key
                    and (old.when_due = 'POST' or a.approved_at < old.due_at)))
    ) then
      raise exception 'transfers: a transfer waits for the core before its review or cut-off has ended' using errcode = 'SD074';
    end if;
    return new;
  end if;
  if new.held_for <> old.held_for or (new.when_due, new.due_at) is distinct from ('POST', old.not_before) or old.approvals_needed > (
    select count(*) from transfer_approvals a
    where a.institution_id = new.institution_id and a.transfer_key = new.transfer_key
  ) then
    raise exception 'transfers: only an approved transfer can be postponed, to its processing time' using errcode = 'SD010';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_pending_transfer_exists()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if not exists (
    select from pending_transfers p
    where p.institution_id = new.institution_id and p.transfer_key = new.transfer_key
  ) and exists (
    select from transfers t
    where t.institution_id = new.institution_id and t.transfer_key = new.transfer_key and t.status = 'PENDING'
  ) then
    raise exception 'transfers: a pending transfer needs a row in pending_transfers' using errcode = 'SD010';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION check_pending_transfer_removed()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if exists (
    select from transfers t
    where t.institution_id = old.institution_id and t.transfer_key = old.transfer_key and t.status = 'PENDING'
  ) then
    raise exception 'transfers: a pending transfer needs a row in pending_transfers' using errcode = 'SD010';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION check_pending_transfers()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if exists (
    select from written p
    left join lateral (
      select t.status, t.amount, t.from_key, t.to_key from transfers t
      where t.institution_id = p.institution_id and t.transfer_key = p.transfer_key
      offset 0
    ) t on true
    left join lateral (
      select e.debits_pending_after - coalesce(before.debits_pending_after, 0) as held
      from entries e
      left join entries before on before.institution_id = e.institution_id and before.account_key = e.account_key
        and before.seq = e.seq - 1
      where e.institution_id = p.institution_id and e.account_key = t.from_key and e.posting_key = p.transfer_key
        and e.kind = 'HOLD'
        and e.seq > (select b.seq - 2000 from balances b
                     where b.institution_id = p.institution_id and b.account_key = t.from_key)
      offset 0
    ) o on true
    where t.status is distinct from 'PENDING' or o.held is distinct from t.amount
  ) then
    raise exception 'transfers: a pending transfer does not hold its amount' using errcode = 'SD006';
  end if;
  if exists (
    select from written p
    where p.held_for = 'CORE' and not exists (
      select from core_instructions i
      where i.institution_id = p.institution_id and i.instruction_key = p.transfer_key and i.mode = 'WAIT'
        and i.state = 'OPEN')
  ) then
    raise exception 'transfers: a transfer waits for the core without an instruction' using errcode = 'SD073';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION check_person_erased()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if old.erased_at is not null then
    raise exception 'persons: an erased person stays erased' using errcode = 'SD120';
  end if;
  if num_nonnulls(new.email, new.phone_number, new.phone_type, new.birth_date) > 0 or new.first_name <> '' or new.last_name <> ''
     or exists (
       select from accounts a
       join balances b on b.institution_id = a.institution_id and b.account_key = a.account_key
       where a.institution_id = new.institution_id
         and (not a.closed or b.last_at >= now() - interval '1827 days')
         and a.account_key in (
           select h.account_key from holders h
           where h.institution_id = new.institution_id and h.person_key = new.person_key
           union all
           select o.account_key from customer_persons cp
           join accounts o on o.institution_id = cp.institution_id and o.customer_key = cp.customer_key
           where cp.institution_id = new.institution_id and cp.person_key = new.person_key)) then
    raise exception 'persons: an account is open or moved in the last 1827 days' using errcode = 'SD121';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_proposal_confirmed()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if old.confirmed_at is not null or new.confirmed_at is null then
    raise exception 'proposals: a proposal can be confirmed once' using errcode = 'SD050';
  end if;
  new.confirmed_xid := pg_current_xact_id();
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_provider_generation()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if new.generation <= old.generation then
    raise exception 'identity provider %: a change needs a higher generation', old.provider_id using errcode = 'SD101';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_reconcile_result()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if exists (
    select from (select distinct w.institution_id, w.run_key from written w) w
    join reconcile_results r on r.institution_id = w.institution_id and r.run_key = w.run_key
    cross join lateral (
      select count(*) as findings, coalesce(max(f.place), 0) as last
      from reconcile_findings f where f.institution_id = r.institution_id and f.run_key = r.run_key) f
    where f.findings <> r.kept or f.last <> r.kept
  ) then
    raise exception 'reconcile_results: the findings of a run are not those that it keeps' using errcode = 'SD220';
  end if;
  if exists (
    select from (select distinct w.institution_id, w.run_key from written w) w
    join reconcile_findings f on f.institution_id = w.institution_id and f.run_key = w.run_key
    group by f.institution_id, f.run_key, f.kind having count(*) > 100
  ) then
    raise exception 'reconcile_findings: a run keeps a hundred findings of a kind' using errcode = 'SD220';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION check_reconcile_result_old()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if old.finished_at > now() - interval '90 days' or exists (
    select from reconcile_runs r where r.institution_id = old.institution_id and r.run_key = old.run_key
  ) then
    raise exception 'reconcile_results: a run stays for ninety days, and the last one longer' using errcode = 'SD221';
  end if;
  return old;
end
$function$;

CREATE OR REPLACE FUNCTION check_refresh_family()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if old.revoked_at is not null then
    raise exception 'refresh family %: it is revoked for good', old.family_id using errcode = 'SD201';
  end if;
  if new.generation not in (old.generation, old.generation + 1)
     or (new.generation = old.generation) <> (new.token_hash = old.token_hash) then
    raise exception 'refresh family %: a new token must directly follow the last one', old.family_id using errcode = 'SD202';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_release()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if not exists (
    select from transfers t
    where t.institution_id = new.institution_id and t.transfer_key = new.posting_key and t.status = 'FAILED'
      and new.account_key in (t.from_key, t.to_key)
  ) then
    raise exception 'ledger: a release belongs to no failed transfer' using errcode = 'SD015';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION check_reversal()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if not exists (
    select from transfers o
    where o.institution_id = new.institution_id and o.transfer_key = new.reverses_key and o.status = 'COMPLETED'
      and o.reverses_key is null
      and (o.amount, o.currency, o.from_key, o.to_key) = (new.amount, new.currency, new.to_key, new.from_key)
  ) then
    raise exception 'transfer % does not reverse one completed transfer in full', new.transfer_id using errcode = 'SD011';
  end if;
  if exists (
    select from core_instructions i
    where i.institution_id = new.institution_id and i.instruction_key = new.reverses_key and i.state = 'REJECTED'
      and new.user_key is null and new.client_id is not distinct from i.decided_by
      and new.operator is not distinct from i.decided_operator
  ) then
    return null;
  end if;
  if new.operator is null or num_nonnulls(new.client_id, new.user_key) > 0 then
    raise exception 'transfer % is a reversal that no operator ordered', new.transfer_id using errcode = 'SD022';
  end if;
  if requires_dual_control(new.institution_id) and not exists (
    select from transfers o
    join proposals p on p.institution_id = o.institution_id and p.kind = 'REVERSAL' and p.subject = o.transfer_id
    where o.institution_id = new.institution_id and o.transfer_key = new.reverses_key
      and p.confirmed_at is not null and p.expires_at > new.created_at
      and share_a_person(array[p.proposed_by, p.confirmed_by], array[new.operator])
  ) then
    raise exception 'transfer % is a reversal without dual control: no second person confirmed it', new.transfer_id
      using errcode = 'SD051';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION check_rules_confirmed()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  institution constant integer := nullif(current_setting('sharedraft.institution', true), '');
begin
  if requires_dual_control(institution) and not exists (
    select from proposals p
    where p.institution_id = institution and p.kind = 'RULES' and p.confirmed_xid = pg_current_xact_id()
  ) then
    raise exception 'rules: dual control requires a second person to confirm this change' using errcode = 'SD052';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION check_sandbox_clock()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if new.clock_ahead_seconds < old.clock_ahead_seconds then
    raise exception 'institution %: the clock can only move forward', old.code using errcode = 'SD030';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_served()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  own boolean := (select new.institution_id between c.first_number and c.last_number from cell c);
begin
  if tg_op = 'INSERT' then
    if new.served not in ('here', 'arriving') or own = (new.served = 'arriving') then
      raise exception 'institutions: % is no number of this cell for one that is %', new.institution_id, new.served
        using errcode = 'SD152';
    end if;
  elsif new.served <> old.served and (old.served, new.served) not in (
    ('here', 'leaving'), ('leaving', 'here'), ('leaving', 'left'), ('left', 'here'), ('left', 'gone'), ('gone', 'arriving'),
    ('arriving', 'here'), ('arriving', 'gone')) then
    raise exception 'institutions: % cannot be % after it was %', new.institution_id, new.served, old.served
      using errcode = 'SD152';
  end if;
  if tg_op = 'UPDATE' and new.moves < old.moves then
    raise exception 'institutions: % has moved % times', new.institution_id, old.moves using errcode = 'SD152';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_session()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if old.ended_at is not null then
    raise exception 'session %: it has ended for good', old.session_id using errcode = 'SD203';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_transfer_id_prefix()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  lock table public.transfer_id_prefixes in share row exclusive mode;
  if exists (
    select from public.transfer_id_prefixes p
    where p.institution_id = new.institution_id and p.client_id <> new.client_id
      and (starts_with(p.prefix, new.prefix) or starts_with(new.prefix, p.prefix))
  ) then
    raise exception 'clients: the prefix overlaps a prefix of another client' using errcode = 'SD023';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_transfer_id_reserved()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if exists (
    select from public.transfer_id_prefixes p
    join written t on t.institution_id = p.institution_id and starts_with(t.transfer_id, p.prefix)
      and t.client_id <> p.client_id
  ) then
    raise exception 'transfers: the id is reserved for another client' using errcode = 'SD024';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION check_transfer_transition()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  ends text := case new.status when 'COMPLETED' then 'TRANSFER' else 'RELEASE' end;
begin
  if old.status <> 'PENDING' then
    raise exception 'transfer % is final', old.transfer_id using errcode = 'SD005';
  end if;
  if new.status = 'COMPLETED' and not exists (
    select from pending_transfers p
    where p.institution_id = new.institution_id and p.transfer_key = new.transfer_key
      and (p.held_for = 'CORE' and exists (
              select from core_instructions i
              where i.institution_id = new.institution_id and i.instruction_key = new.transfer_key and i.state = 'ACCEPTED')
        or (p.when_due = 'POST' and p.due_at <= new.settled_at and not exists (
              select from users u
              where u.institution_id = new.institution_id and u.user_key = new.user_key
                and (u.locked_by_operator or not u.active)))
        or (p.held_for = 'REVIEW'
            and (p.when_due = 'POST' or new.settled_at < p.due_at or exists (
              select from entries e
              join entries before on before.institution_id = e.institution_id and before.account_key = e.account_key
                and before.seq = e.seq - 1 and before.recorded_at = e.recorded_at
              where e.institution_id = new.institution_id and e.account_key in (new.from_key, new.to_key)
                and e.posting_key = new.transfer_key and e.kind = 'TRANSFER' and e.recorded_at = new.settled_at
                and e.seq > (select b.seq - 2000 from balances b
                             where b.institution_id = e.institution_id and b.account_key = e.account_key)))
            and (p.not_before is null or p.not_before <= new.settled_at)
            and p.approvals_needed <= (
              select count(*) from transfer_approvals a
              where a.institution_id = p.institution_id and a.transfer_key = p.transfer_key
                and (p.when_due = 'POST' or a.approved_at < p.due_at))))
  ) then
    raise exception 'transfer % is neither due nor approved', old.transfer_id using errcode = 'SD007';
  end if;
  if (select i.record = 'core' from institutions i where i.institution_id = new.institution_id) and (
    new.status = 'COMPLETED' and not exists (
      select from core_instructions i
      where i.institution_id = new.institution_id and i.instruction_key = new.transfer_key
        and (i.mode <> 'WAIT' or i.state = 'ACCEPTED'))
    or new.status = 'FAILED' and exists (
      select from core_instructions i
      where i.institution_id = new.institution_id and i.instruction_key = new.transfer_key
        and i.state not in ('REJECTED', 'WITHDRAWN'))
  ) then
    raise exception 'transfer % ends without the core', old.transfer_id using errcode = 'SD073';
  end if;
  if new.status = 'PENDING' or exists (
    select from (values (new.from_key, -new.amount), (new.to_key, new.amount)) as side (account_key, amount)
    where not exists (
      select from entries e
      where e.institution_id = new.institution_id and e.account_key = side.account_key
        and e.posting_key = new.transfer_key and e.kind = ends and e.recorded_at = new.settled_at
        and e.amount = case ends when 'TRANSFER' then side.amount else 0 end
        and e.seq > (select b.seq - 2000 from balances b
                     where b.institution_id = new.institution_id and b.account_key = side.account_key))
  ) then
    raise exception 'transfer % ends without posting or releasing its amount', old.transfer_id using errcode = 'SD009';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_transfers_consented()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if exists (
    select from written w
    join transfers t on t.institution_id = w.institution_id and t.transfer_key = w.transfer_key
    where t.status <> 'FAILED' and not exists (
      select from consents s
      where s.institution_id = w.institution_id and s.consent_id = w.consent_id and s.client_id = t.client_id
        and s.user_key = t.user_key and s.ended_at is null and 'transfer:write' = any (s.scopes)
        and (s.all_accounts or exists (
          select from consent_accounts a
          where a.institution_id = w.institution_id and a.consent_id = w.consent_id and a.account_key = t.from_key
            and a.may_pay)))) then
    raise exception 'transfers: the consent does not let the app pay from the account' using errcode = 'SD218';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION check_transfers_instructed()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if not exists (
    select from institutions i
    where i.institution_id = (select w.institution_id from written w limit 1) and i.record = 'core'
  ) then
    return null;
  end if;
  if exists (
    select from written t
    left join lateral (
      select i.mode from core_instructions i
      where i.institution_id = t.institution_id and i.instruction_key = t.transfer_key
      offset 0
    ) i on true
    left join lateral (
      select i.state from core_instructions i
      where i.institution_id = t.institution_id and i.instruction_key = t.reverses_key
      offset 0
    ) o on true
    where t.status = 'COMPLETED' and coalesce(i.mode, 'WAIT') = 'WAIT' and o.state is distinct from 'REJECTED'
       or o.state = 'OPEN'
  ) then
    raise exception 'transfers: a transfer completes without the core' using errcode = 'SD073';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION check_transfers_screened()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  hook record;
begin
  select h.from_amount, i.currency into hook
  from screening_hooks h
  join institutions i on i.institution_id = h.institution_id
  where h.institution_id = (select w.institution_id from written w limit 1) and h.binds_from <= now();
  if not found then
    return null;
  end if;
  if exists (
    select from written t
    left join lateral (
      select s.verdict from transfer_screenings s
      where s.institution_id = t.institution_id and s.transfer_key = t.transfer_key
      offset 0
    ) s on true
    where t.status <> 'FAILED' and t.reverses_key is null and (t.currency <> hook.currency or t.amount >= hook.from_amount)
      and s.verdict is distinct from 'APPROVE' and (s.verdict is distinct from 'HOLD' or t.status <> 'PENDING')
  ) then
    raise exception 'transfers: an order that is screened has no verdict that lets it pass' using errcode = 'SD212';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION check_transfers_stepped_up()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  policy record;
begin
  select i.currency, i.transfer_step_up_above as above, i.transfer_step_up_passkey as passkey,
         i.transfer_step_up_max_age * interval '1 second' as max_age
  into policy
  from institutions i
  where i.institution_id = (select w.institution_id from written w limit 1)
    and i.transfer_step_up_max_age > 0 and i.transfer_step_up_from <= now();
  if not found then
    return null;
  end if;
  if exists (
    select from written t
    left join lateral (
      select s.signed_in_at, s.acr, s.checked_at from transfer_sign_ins s
      where s.institution_id = t.institution_id and s.transfer_key = t.transfer_key
      offset 0
    ) s on true
    where t.status <> 'FAILED' and t.user_key is not null and (t.currency <> policy.currency or t.amount > policy.above)
      and (s.signed_in_at is null or s.signed_in_at < s.checked_at - policy.max_age or policy.passkey and s.acr is distinct from 'phr')
  ) then
    raise exception 'transfers: a transfer above the amount needs a recent sign-in' using errcode = 'SD214';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION check_transfers_unrestricted()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if not exists (
    select from accounts a
    where a.institution_id = (select w.institution_id from written w limit 1) and a.operator_restriction is not null
  ) then
    return null;
  end if;
  if exists (
    select from written t
    cross join lateral (
      select from accounts a
      where a.institution_id = t.institution_id and a.operator_restriction is not null
        and (a.account_key = t.from_key and a.operator_restriction <> 'EXCLUDE_AS_TO'
             or a.account_key = t.to_key and a.operator_restriction <> 'EXCLUDE_AS_FROM')
        and a.account_key in (t.from_key, t.to_key)
      offset 0
    ) a
    where t.status <> 'FAILED' and t.reverses_key is null
  ) then
    raise exception 'transfers: an operator has restricted an account of the transfer' using errcode = 'SD026';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION check_typed_operator()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if not exists (select from institutions i where i.institution_id = new.institution_id and i.demo) then
    raise exception 'audit: only a demo institution accepts a typed operator name' using errcode = 'SD020';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_verified_email()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if new.email_verified_by = 'CORE' and not exists (
    select from persons p
    where p.institution_id = new.institution_id and p.person_key = new.person_key and not p.self_declared
      and lower(p.email collate "C") = lower(new.verified_email collate "C")
  ) then
    raise exception 'members: the core has a different e-mail address for this member' using errcode = 'SD040';
  end if;
  if exists (
    select from users o
    where o.institution_id = new.institution_id and o.verified_email_lower = new.verified_email_lower
      and o.user_key <> new.user_key and 'CODE' in (o.email_verified_by, new.email_verified_by)
  ) then
    raise exception 'members: the e-mail address identifies another user' using errcode = 'SD041';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION close_event_partition(of_first bigint)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  partition constant text := format('outbox_%s', of_first);
  institution integer;
  last record;
begin
  perform from public.event_partitions p
  where p.first_key = of_first and p.closed_at is null
    and not exists (select from public.event_partitions o where o.first_key < of_first and o.closed_at is null)
  for update;
  if not found then
    raise exception 'events: % is not the oldest partition that is open', partition using errcode = 'SD160';
  end if;
  for institution in select i.institution_id from public.institutions i order by i.institution_id loop
    perform set_config('sharedraft.institution', institution::text, true);
    execute format(
      'select o.epoch, o.xid, o.event_key from public.%I o where o.institution_id = $1
       order by o.epoch desc, o.xid desc, o.event_key desc limit 1', partition) into last using institution;
    continue when last.event_key is null or exists (
      select from public.event_horizons h
      where h.institution_id = institution and (h.epoch, h.xid, h.event_key) >= (last.epoch, last.xid, last.event_key));
    insert into public.event_horizons as h (institution_id, epoch, xid, event_key, number)
    values (institution, last.epoch, last.xid, last.event_key,
            event_number(institution, last.epoch, last.xid, last.event_key))
    on conflict (institution_id) do update
    set epoch = excluded.epoch, xid = excluded.xid, event_key = excluded.event_key, number = excluded.number;
    insert into public.event_marks (institution_id, number, epoch, xid, event_key)
    select h.institution_id, h.number, h.epoch, h.xid, h.event_key from public.event_horizons h
    where h.institution_id = institution
    on conflict do nothing;
    delete from public.event_marks m
    where m.institution_id = institution and (m.epoch, m.xid, m.event_key) < (last.epoch, last.xid, last.event_key);
  end loop;
  perform set_config('sharedraft.institution', '0', true);
  update public.event_partitions set closed_at = now(), closed_xid = pg_current_xact_id() where first_key = of_first;
end
$function$;
revoke execute on function close_event_partition(bigint) from public;

CREATE OR REPLACE FUNCTION close_moved(institution integer, to_cell text, known_moves integer)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  update public.institutions i set served = 'leaving', other_cell = to_cell
  where i.institution_id = institution and i.served = 'here' and i.moves < known_moves;
  update public.institutions i set served = 'left', other_cell = to_cell
  where i.institution_id = institution and i.served = 'leaving' and i.moves < known_moves;
  return found;
end
$function$;
revoke execute on function close_moved(integer,text,integer) from public;
grant execute on function close_moved(integer,text,integer) to sharedraft_service;

CREATE OR REPLACE FUNCTION control_number(kind text, posting bigint, account bigint, amount bigint)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE
RETURN hashint8extended(posting, hashint8extended(account, hashint8extended(amount, (CASE kind WHEN 'HOLD'::text THEN 1 WHEN 'RELEASE'::text THEN 2 WHEN 'SETTLEMENT'::text THEN 3 WHEN 'CORE'::text THEN 4 WHEN 'CORE_HOLD'::text THEN 5 WHEN 'CORE_RELEASE'::text THEN 6 ELSE 0 END)::bigint)));

CREATE OR REPLACE FUNCTION core_breaks_to_open(of_institution integer, at_time timestamp with time zone)
 RETURNS TABLE(class text, subject text, account_id text, account_key bigint, transfer_key bigint, currency text, difference_minor bigint, transfer_id text, refusal_code text, refusal_reason text, since timestamp with time zone)
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  with late as (
    select 'TIMING' as class, 'instruction:' || t.transfer_id as subject, t.from_account_id as account_id, i.from_key as account_key,
           i.instruction_key as transfer_key, i.currency, 0::bigint as difference_minor, t.transfer_id, null as refusal_code,
           null as refusal_reason, i.delivered_at as since
    from core_instructions i
    cross join lateral (
      select t.transfer_id, t.transfer_type, t.from_account_id from transfers t
      where t.institution_id = of_institution and t.transfer_key = i.instruction_key offset 0
    ) t
    where i.institution_id = of_institution and i.state = 'OPEN' and i.delivered_at is not null
      and i.delivered_at < at_time - make_interval(secs => coalesce((
        select p.core_wait_seconds from transfer_policies p
        where p.institution_id = of_institution and p.transfer_type = t.transfer_type and p.currency = i.currency), 86400))
  ), refusals as materialized (
    select i.instruction_key, i.currency, i.refusal_code, i.refusal_reason, i.decided_at, i.from_key, i.to_key, i.amount,
           t.transfer_id, t.from_account_id, t.to_account_id, t.reverses_key is not null as is_reversal
    from core_instructions i
    cross join lateral (
      select t.transfer_id, t.from_account_id, t.to_account_id, t.reverses_key from transfers t
      where t.institution_id = of_institution and t.transfer_key = i.instruction_key offset 0
    ) t
    where i.institution_id = of_institution and i.state = 'REJECTED' and i.mode <> 'WAIT' and i.decided_at > at_time - interval '30 days'
  ), refused as (
    select 'REVERSAL_REJECTED', 'reversal:' || r.transfer_id || ':' || side.account_id, side.account_id, side.account_key,
           r.instruction_key, r.currency, side.difference, r.transfer_id, r.refusal_code, r.refusal_reason, r.decided_at
    from refusals r
    cross join lateral (values (r.from_account_id, r.from_key, r.amount), (r.to_account_id, r.to_key, -r.amount))
      as side (account_id, account_key, difference)
    where r.is_reversal
  ), below as (
    select 'BELOW_FLOOR', 'floor:' || r.transfer_id, r.to_account_id, r.to_key, r.instruction_key, r.currency, 0::bigint,
           r.transfer_id, r.refusal_code, r.refusal_reason, r.decided_at
    from refusals r
    join balances b on b.institution_id = of_institution and b.account_key = r.to_key
    join accounts a on a.institution_id = of_institution and a.account_key = r.to_key
    where not r.is_reversal and a.category = 'DEPOSIT' and b.posted - b.debits_pending < -a.overdraft_limit
  ), found as (
    select * from late union all select * from refused union all select * from below
  )
  select * from found f
  where not exists (select from core_breaks b where b.institution_id = of_institution and b.subject = f.subject)
  limit 1000
$function$;
revoke execute on function core_breaks_to_open(integer,timestamp with time zone) from public;
grant execute on function core_breaks_to_open(integer,timestamp with time zone) to sharedraft_service;

CREATE OR REPLACE FUNCTION core_figures(at timestamp with time zone, OUT cores integer, OUT silence_seconds double precision, OUT open_instructions integer, OUT oldest_instruction_seconds double precision)
 RETURNS record
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  most constant integer := 10000;
  each record;
  own record;
begin
  cores := 0;
  open_instructions := 0;
  oldest_instruction_seconds := 0;
  for each in
    select i.institution_id as id, i.clock_ahead_seconds as ahead from public.institutions i
    where i.record = 'core' and i.served = 'here'
  loop
    perform set_config('sharedraft.institution', each.id::text, true);
    cores := cores + 1;

    silence_seconds := greatest(silence_seconds, (
      select extract(epoch from at - c.heard_at) from public.core_connections c where c.institution_id = each.id));

    select count(*) as open, min(s.issued_at) as oldest
    into own
    from (
      select n.issued_at from public.core_instructions n
      where n.institution_id = each.id and n.state = 'OPEN' order by n.sequence limit most) s;
    open_instructions := open_instructions + own.open;
    oldest_instruction_seconds := greatest(
      oldest_instruction_seconds, extract(epoch from at + make_interval(secs => each.ahead) - own.oldest));
  end loop;
end
$function$;
revoke execute on function core_figures(timestamp with time zone) from public;
grant execute on function core_figures(timestamp with time zone) to sharedraft_service;

CREATE OR REPLACE FUNCTION cores_to_tend(at_time timestamp with time zone)
 RETURNS TABLE(institution integer)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  present timestamptz;
  has_core boolean;
begin
  for institution, present, has_core in
    select i.institution_id, at_time + make_interval(secs => i.clock_ahead_seconds), i.record = 'core'
    from public.institutions i
    where i.served = 'here'
  loop
    perform set_config('sharedraft.institution', institution::text, true);
    if exists (select from public.core_authorizations a
               where a.institution_id = institution and a.ended is null and a.expires_at <= present)
       or has_core and exists (select from public.core_breaks_to_open(institution, present))
       or has_core and exists (select from public.core_breaks b where b.institution_id = institution and b.closed_at is null)
    then
      return next;
    end if;
  end loop;
end
$function$;
revoke execute on function cores_to_tend(timestamp with time zone) from public;
grant execute on function cores_to_tend(timestamp with time zone) to sharedraft_service;

CREATE OR REPLACE FUNCTION count_changed_core_authorizations()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if exists (
    select from written a join replaced o using (institution_id, authorization_id)
    where o.ended is not null and a.ended is distinct from o.ended
  ) then
    raise exception 'core: an authorization that has ended was changed' using errcode = 'SD061';
  end if;
  perform add_to_control_total(-sum(
    control_number(c.kind, a.posting_key, a.account_key, o.held - a.held)::numeric
    + control_number(c.kind, a.posting_key, a.settlement_key, a.held - o.held)))
  from written a
  join replaced o using (institution_id, authorization_id)
  cross join lateral (select case when a.held > o.held then 'CORE_HOLD' else 'CORE_RELEASE' end as kind) c
  where a.held <> o.held;
  return null;
end
$function$;
revoke execute on function count_changed_core_authorizations() from public;

CREATE OR REPLACE FUNCTION count_consent_changes()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  update consents s set all_accounts = s.all_accounts
  where (s.institution_id, s.consent_id) in (select t.institution_id, t.consent_id from touched t);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION count_core_authorizations()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  perform add_to_control_total(-sum(
    control_number('CORE_HOLD', a.posting_key, a.account_key, -a.held)::numeric
    + control_number('CORE_HOLD', a.posting_key, a.settlement_key, a.held)))
  from written a where a.held > 0;
  return null;
end
$function$;
revoke execute on function count_core_authorizations() from public;

CREATE OR REPLACE FUNCTION count_opening()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  most institutions;
  counted opening_counters;
begin
  select * into most from institutions where institution_id = new.institution_id;
  if tg_op = 'INSERT' then
    insert into opening_counters as c values (new.institution_id, new.opened_on, 1, 0)
    on conflict (institution_id, day) do update set openings = c.openings + 1
    returning * into counted;
    if counted.openings > most.openings_per_day then
      raise exception 'openings: the daily cap on openings is reached' using errcode = 'SD042';
    end if;
  elsif old.deposited_on is not null then
    raise exception 'openings: the deposit is already paid' using errcode = 'SD043';
  end if;
  if new.deposited_on is not null and new.deposit > 0 then
    insert into opening_counters as c values (new.institution_id, new.deposited_on, 0, new.deposit)
    on conflict (institution_id, day) do update set deposited = c.deposited + new.deposit
    returning * into counted;
    if counted.deposited > most.opening_deposits_per_day then
      raise exception 'openings: the daily cap on deposits is reached' using errcode = 'SD042';
    end if;
  end if;
  return null;
end
$function$;
revoke execute on function count_opening() from public;

CREATE OR REPLACE FUNCTION delete_old_changes(now timestamp with time zone, keep interval)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  kept public.changes_kept;
begin
  select * into kept from public.changes_kept k where k.moved_at <= now - keep or k.moved_at > now
  for update skip locked;
  if not found then
    return;
  end if;
  delete from public.changes c
  where c.xid < kept.next_from or c.xid >= pg_snapshot_xmax(pg_current_snapshot());
  update public.changes_kept set kept_from = kept.next_from, next_from = pg_snapshot_xmin(pg_current_snapshot()), moved_at = now;
end
$function$;
revoke execute on function delete_old_changes(timestamp with time zone,interval) from public;
grant execute on function delete_old_changes(timestamp with time zone,interval) to sharedraft_service;

CREATE OR REPLACE FUNCTION delete_pruned_audit(most integer)
 RETURNS bigint
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  with gone as (
    delete from public.audit_entries e
    using (
      select o.audit_key
      from public.audit_chains c
      cross join lateral (
        select e.audit_key from public.audit_entries e
        where e.institution_id = c.institution_id and e.chain = c.chain and e.chain_number is not null
          and e.chain_number <= c.pruned_to
        order by e.chain_number limit most) o
      where c.institution_id = current_setting('sharedraft.institution')::integer) old
    where e.institution_id = current_setting('sharedraft.institution')::integer and e.audit_key = old.audit_key
    returning 1)
  select count(*) from gone
$function$;
revoke execute on function delete_pruned_audit(integer) from public;
grant execute on function delete_pruned_audit(integer) to sharedraft_service;

CREATE OR REPLACE FUNCTION drop_event_partition(of_first bigint, file_digest bytea)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  partition constant text := format('outbox_%s', of_first);
  closed record;
  institution integer;
  here bigint;
  events bigint := 0;
begin
  select p.closed_xid, p.events into closed from public.event_partitions p
  where p.first_key = of_first and p.digest = file_digest and p.dropped_at is null for update;
  if not found then
    raise exception 'events: % is not in this file', partition using errcode = 'SD161';
  end if;
  if pg_snapshot_xmin(pg_current_snapshot()) <= closed.closed_xid then
    return false;
  end if;
  -- No one writes to it from here on; readers of all events go on until it is detached.
  execute format('lock table public.%I in share row exclusive mode', partition);
  for institution in select i.institution_id from public.institutions i order by i.institution_id loop
    perform set_config('sharedraft.institution', institution::text, true);
    execute format('select count(*) from public.%I o where o.institution_id = $1', partition) into here using institution;
    events := events + here;
    continue when here = 0;
    execute format(
      'insert into public.event_archived_entries as a (institution_id, account_key, entries, seq_sum, last_seq)
       select $1, s.account_key, count(*), sum(s.seq), max(s.seq)
       from public.%I o
       cross join lateral (values (o.from_key, o.from_seq), (o.to_key, o.to_seq)) as s (account_key, seq)
       where o.institution_id = $1 and o.kind like ''transfer.%%'' and s.seq is not null
       group by s.account_key
       on conflict (institution_id, account_key) do update
       set entries = a.entries + excluded.entries, seq_sum = a.seq_sum + excluded.seq_sum,
           last_seq = greatest(a.last_seq, excluded.last_seq)', partition) using institution;
  end loop;
  perform set_config('sharedraft.institution', '0', true);
  if events <> closed.events then
    raise exception 'events: % has % events, and the file %', partition, events, closed.events using errcode = 'SD161';
  end if;
  execute format('alter table public.outbox detach partition public.%I', partition);
  execute format('drop table public.%I', partition);
  update public.event_partitions set dropped_at = now() where first_key = of_first;
  return true;
end
$function$;
revoke execute on function drop_event_partition(bigint,bytea) from public;

CREATE OR REPLACE FUNCTION empty_import_stage(ended text)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  lock table public.import_runs in exclusive mode;
  if exists (select from public.import_runs r where r.code <> ended) then
    return false;
  end if;
  truncate public.staged_persons, public.staged_members, public.staged_member_persons, public.staged_accounts,
    public.staged_holders, public.staged_rejects;
  return true;
end
$function$;
revoke execute on function empty_import_stage(text) from public;
grant execute on function empty_import_stage(text) to sharedraft_service;

CREATE OR REPLACE FUNCTION end_provider_tokens()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if new.tokens_ended_at is not distinct from old.tokens_ended_at then
    new.tokens_ended_at := clock_timestamp();
  end if;
  new.tokens_ended_at := greatest(old.tokens_ended_at, new.tokens_ended_at);
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION entries_before(institution integer, account bigint, moment timestamp with time zone)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  low bigint := 0;
  high bigint;
  middle bigint;
begin
  select b.seq into high from balances b where b.institution_id = institution and b.account_key = account;
  while low < high loop
    middle := (low + high + 1) / 2;
    if (select e.recorded_at < moment from entries e
        where e.institution_id = institution and e.account_key = account and e.seq = middle) then
      low := middle;
    else
      high := middle - 1;
    end if;
  end loop;
  return low;
end
$function$;

CREATE OR REPLACE FUNCTION erase_audit_personal(users text[], subjects text[], at timestamp with time zone)
 RETURNS bigint
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  with erased as (
    update public.audit_entries e
    set address = null, name_hash = null, stated_reason = null, personal = null, personal_salt = null, erased_at = at
    where e.institution_id = current_setting('sharedraft.institution')::integer
      and (e.user_id = any (users) or e.subject = any (subjects)) and e.erased_at is null
    returning 1)
  select count(*) from erased
$function$;
revoke execute on function erase_audit_personal(text[],text[],timestamp with time zone) from public;
grant execute on function erase_audit_personal(text[],text[],timestamp with time zone) to sharedraft_service;

CREATE OR REPLACE FUNCTION erase_member_events(user_key bigint)
 RETURNS bigint
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  with erased as (
    update public.outbox o set data = null, secret = null, secret_expires_at = null
    where o.institution_id = current_setting('sharedraft.institution')::integer and o.subject_key = erase_member_events.user_key
      and (o.kind like 'member.%' or o.kind like 'consent.%') and num_nonnulls(o.data, o.secret) > 0
    returning 1)
  select count(*) from erased
$function$;
revoke execute on function erase_member_events(bigint) from public;
grant execute on function erase_member_events(bigint) to sharedraft_service;

CREATE OR REPLACE FUNCTION event_mark_before(institution integer, moment timestamp with time zone)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  found_number bigint := 0;
  low bigint := 0;
  high bigint;
  middle bigint;
  mark_number bigint;
  mark_key bigint;
begin
  select coalesce(max(m.number), 0) into high from event_marks m where m.institution_id = institution;
  while low < high loop
    middle := (low + high + 1) / 2;
    select m.number, m.event_key into mark_number, mark_key from event_marks m
    where m.institution_id = institution and m.number > low and m.number <= middle
    order by m.number desc limit 1;
    if mark_number is null then
      low := middle;
    elsif exists (select from outbox o
                  where o.institution_id = institution and o.event_key = mark_key and o.recorded_at >= moment) then
      high := mark_number - 1;
    else
      found_number := mark_number;
      low := middle;
    end if;
  end loop;
  return found_number;
end
$function$;

CREATE OR REPLACE FUNCTION event_number(institution integer, at_epoch bigint, at_xid xid8, at_key bigint)
 RETURNS bigint
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select mark.number + (
    select count(*) from outbox o
    where o.institution_id = institution and (o.epoch, o.xid, o.event_key) > (mark.epoch, mark.xid, mark.event_key)
      and (o.epoch, o.xid, o.event_key) <= (at_epoch, at_xid, at_key))
  from (
    select coalesce(m.number, 0) as number, coalesce(m.epoch, -1) as epoch, coalesce(m.xid, '0') as xid,
           coalesce(m.event_key, 0) as event_key
    from (select) one
    left join lateral (
      select m.number, m.epoch, m.xid, m.event_key from event_marks m
      where m.institution_id = institution and (m.epoch, m.xid, m.event_key) <= (at_epoch, at_xid, at_key)
      order by m.epoch desc, m.xid desc, m.event_key desc limit 1
    ) m on true
    offset 0
  ) mark
$function$;

CREATE OR REPLACE FUNCTION event_partition_figures(OUT keys_ahead bigint, OUT default_bytes bigint)
 RETURNS record
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select greatest(0, (select max(p.end_key) from public.event_partitions p)
                     - 1 - coalesce(pg_sequence_last_value('public.outbox_event_key_seq'), 0)),
         pg_relation_size('public.outbox_default')
$function$;
revoke execute on function event_partition_figures() from public;
grant execute on function event_partition_figures() to sharedraft_service;

CREATE OR REPLACE FUNCTION event_partition_needs(of_first bigint, kept_days integer)
 RETURNS TABLE(institution integer, need text, endpoint uuid)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  partition constant text := format('outbox_%s', of_first);
  bounds record;
  each record;
  last record;
  newest timestamptz;
begin
  select p.first_key, p.end_key into strict bounds from public.event_partitions p where p.first_key = of_first;
  institution := 0;
  if coalesce(pg_sequence_last_value('public.outbox_event_key_seq'), 0) < bounds.end_key then
    need := 'full';
    return next;
    return;
  end if;
  for each in select i.institution_id as id, i.served, i.clock_ahead_seconds as ahead from public.institutions i order by 1 loop
    perform set_config('sharedraft.institution', each.id::text, true);
    institution := each.id;
    endpoint := null;
    execute format(
      'select o.epoch, o.xid, o.event_key from public.%I o where o.institution_id = $1
       order by o.epoch desc, o.xid desc, o.event_key desc limit 1', partition) into last using each.id;
    continue when last.event_key is null;
    if each.served <> 'here' then
      need := 'served';
      return next;
      continue;
    end if;
    -- The age reads every event, so a caller that locks has asked before, and leaves it out.
    if kept_days is not null then
      execute format('select max(o.recorded_at) from public.%I o where o.institution_id = $1', partition) into newest using each.id;
    end if;
    if newest - make_interval(secs => each.ahead) >= now() - make_interval(days => kept_days) then
      need := 'young';
      return next;
      continue;
    end if;
    execute format('select ''secret'' from public.%I o where o.institution_id = $1 and o.secret is not null limit 1', partition)
    into need using each.id;
    if need is not null then
      return next;
    end if;
    need := 'webhook';
    for endpoint in
      select e.endpoint_id from public.webhook_endpoints e
      where e.institution_id = each.id and (e.epoch, e.xid, e.event_key) < (last.epoch, last.xid, last.event_key)
      order by e.endpoint_id
    loop
      return next;
    end loop;
    need := 'delivery';
    for endpoint in
      execute format(
        'select distinct d.endpoint_id from public.webhook_deliveries d
         join public.%I o on o.institution_id = $1 and o.event_key = d.event_key
         where d.institution_id = $1 order by 1', partition) using each.id
    loop
      return next;
    end loop;
    endpoint := null;
    if not exists (
      select from public.alert_positions p
      where p.institution_id = each.id and (p.epoch, p.xid, p.event_key) >= (last.epoch, last.xid, last.event_key))
    then
      need := 'alerts';
      return next;
    end if;
    if not exists (
      select from public.reconcile_runs r
      where r.institution_id = each.id and (r.checkpoint_epoch, r.checkpoint_xid) > (last.epoch, last.xid))
    then
      need := 'reconcile';
      return next;
    end if;
  end loop;
  perform set_config('sharedraft.institution', '0', true);
end
$function$;
revoke execute on function event_partition_needs(bigint,integer) from public;

CREATE OR REPLACE FUNCTION expect_rows(written_to text, written bigint, sent bigint)
 RETURNS void
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if written is distinct from sent then
    raise exception '% rows of % were written, % were sent', written, written_to, sent using errcode = 'SD016';
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION expire_limit_counters(before date, most integer)
 RETURNS bigint
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  with gone as (
    delete from public.limit_counters c
    using (
      select o.limit_key, o.subject_key, o.period_start from public.limit_counters o
      where o.institution_id = current_setting('sharedraft.institution')::integer and o.limit_key > 0
        and o.period_start < least(before, (now() at time zone 'UTC')::date - 70)
        and not exists (
          select from public.limit_uses u
          where u.institution_id = o.institution_id and u.limit_key = o.limit_key and u.subject_key = o.subject_key
            and u.period_start = o.period_start)
      order by o.period_start limit most
      for update skip locked) o
    where c.institution_id = current_setting('sharedraft.institution')::integer
      and c.limit_key = o.limit_key and c.subject_key = o.subject_key and c.period_start = o.period_start
    returning 1)
  select count(*) from gone
$function$;
revoke execute on function expire_limit_counters(date,integer) from public;
grant execute on function expire_limit_counters(date,integer) to sharedraft_service;

CREATE OR REPLACE FUNCTION first_running(institution integer)
 RETURNS xid8
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  with held as materialized (
    select l.locktype, l.virtualtransaction, l.transactionid, l.mode,
           l.classid = 7305109 and l.objsubid = 2
             and (l.objid::bigint <> institution or d.datname <> current_database()) as is_elsewhere
    from pg_locks l left join pg_database d on d.oid = l.database
    where l.locktype in ('advisory', 'transactionid') and l.granted
  ), elsewhere as (
    select own.transactionid
    from held mark
    join held own on own.virtualtransaction = mark.virtualtransaction and own.locktype = 'transactionid' and own.mode = 'ExclusiveLock'
    where mark.locktype = 'advisory' and mark.is_elsewhere
  )
  select case
    when pg_is_in_recovery() then pg_snapshot_xmin(pg_current_snapshot())
    else coalesce(
      (select min(x) from pg_snapshot_xip(pg_current_snapshot()) x
       where not exists (select from elsewhere e where e.transactionid::text::bigint = x::text::bigint % 4294967296)),
      pg_snapshot_xmax(pg_current_snapshot()))
  end
$function$;

CREATE OR REPLACE FUNCTION fold_name(name text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select lower(regexp_replace(normalize(name, NFKC),
    '[\s[:cntrl:]\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2028-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB\U000E0000-\U000E0FFF]',
    '', 'g'))
$function$;

CREATE OR REPLACE FUNCTION institutions_to_maintain(at_time timestamp with time zone, events_per_mark integer)
 RETURNS TABLE(institution integer)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  ahead bigint;
  last record;
begin
  for institution, ahead in select i.institution_id, i.clock_ahead_seconds from public.institutions i where i.served = 'here' loop
    perform set_config('sharedraft.institution', institution::text, true);
    select m.epoch, m.xid, m.event_key into last from public.event_marks m
    where m.institution_id = institution order by m.number desc limit 1;
    if not found then
      select -1 as epoch, '0'::xid8 as xid, 0::bigint as event_key into last;
    end if;
    if exists (select from public.audit_entries e where e.institution_id = institution and e.chain_number is null)
       or exists (select from public.outbox o
                  where o.institution_id = institution and o.secret is not null
                    and o.secret_expires_at <= at_time + make_interval(secs => ahead))
       or exists (select from public.outbox o
                  where o.institution_id = institution
                    and (o.epoch, o.xid, o.event_key) > (last.epoch, last.xid, last.event_key)
                  order by o.epoch, o.xid, o.event_key offset events_per_mark - 1 limit 1)
    then
      return next;
    end if;
  end loop;
end
$function$;
revoke execute on function institutions_to_maintain(timestamp with time zone,integer) from public;
grant execute on function institutions_to_maintain(timestamp with time zone,integer) to sharedraft_service;

CREATE OR REPLACE FUNCTION limit_use_is_released(institution integer, transfer bigint, key integer)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select exists (
      select from transfers t
      where t.institution_id = institution and t.transfer_key = transfer and t.status = 'FAILED')
    or key = 0 and exists (
      select from transfers r
      where r.institution_id = institution and r.reverses_key = transfer and r.reverses_key is not null
        and r.status <> 'FAILED')
$function$;

CREATE OR REPLACE FUNCTION list_class_of(status text, transfer_type text)
 RETURNS smallint
 LANGUAGE sql
 IMMUTABLE
RETURN (CASE status WHEN 'PENDING'::text THEN 0 WHEN 'COMPLETED'::text THEN 10 ELSE 20 END + CASE transfer_type WHEN 'STANDARD'::text THEN 1 WHEN 'CROSS_MEMBER'::text THEN 2 WHEN 'IRA_CONTRIBUTION'::text THEN 3 WHEN 'LOAN_PAYMENT'::text THEN 4 WHEN 'INTRA_FI'::text THEN 5 ELSE 0 END);

CREATE OR REPLACE FUNCTION logout_figures(OUT waiting integer)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  most constant integer := 10000;
  each record;
  own integer;
begin
  waiting := 0;
  for each in select i.institution_id as id from public.institutions i where i.served = 'here' loop
    perform set_config('sharedraft.institution', each.id::text, true);
    select count(*) into own
    from (select from public.logout_notices n where n.institution_id = each.id limit most) counted;
    waiting := waiting + own;
  end loop;
end
$function$;
revoke execute on function logout_figures() from public;
grant execute on function logout_figures() to sharedraft_service;

CREATE OR REPLACE FUNCTION logouts_due(at_time timestamp with time zone)
 RETURNS TABLE(institution integer)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  for institution in select i.institution_id from public.institutions i where i.served = 'here' loop
    perform set_config('sharedraft.institution', institution::text, true);
    if exists (select from logout_notices n where n.institution_id = institution and n.due_at <= at_time) then
      return next;
    end if;
  end loop;
end
$function$;
revoke execute on function logouts_due(timestamp with time zone) from public;
grant execute on function logouts_due(timestamp with time zone) to sharedraft_service;

CREATE OR REPLACE FUNCTION make_event_partitions()
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET lock_timeout TO '1s'
AS $function$
declare
  fewest constant bigint := 1000000;
  most constant bigint := 1000000000;
  last constant bigint := coalesce(pg_sequence_last_value('public.outbox_event_key_seq'), 0);
  made integer := 0;
  width bigint;
  first bigint;
  partition text;
  reader text;
begin
  -- Another process makes them.
  if not pg_try_advisory_xact_lock(7305105) then
    return 0;
  end if;
  width := coalesce((
    select greatest(fewest, least(most, (last - p.last_key) * 30 / extract(epoch from (now() - p.made_at) / 86400)))
    from public.event_partitions p where p.made_at <= now() - interval '1 day'
    order by p.made_at desc limit 1), fewest);
  loop
    first := (select max(p.end_key) from public.event_partitions p);
    exit when first > last + 2 * width;
    -- Events stand in the default partition, or are about to: the next partition begins behind them.
    if first <= last or pg_relation_size('public.outbox_default') > 0 then
      first := greatest(first, last + fewest);
    end if;
    partition := format('outbox_%s', first);
    execute format('create table public.%I (like public.outbox including all excluding identity excluding indexes)', partition);
    execute format('comment on table public.%I is %L', partition, format('A partition of outbox: events from %s on.', first));
    perform bind_to_institution(partition::regclass);
    for reader in
      select r.rolname from pg_policy p join pg_roles r on r.oid = any (p.polroles)
      where p.polrelid = 'public.outbox'::regclass and p.polname = 'backup'
    loop
      execute format('create policy backup on public.%I for select to %I using (true)', partition, reader);
      execute format('grant select on public.%I to %I', partition, reader);
    end loop;
    -- Locks the default partition, which is empty, and no reader or writer of the others.
    execute format('alter table public.outbox attach partition public.%I for values from (%s) to (%s)',
                   partition, first, first + width);
    insert into public.event_partitions (first_key, end_key, made_at, last_key) values (first, first + width, now(), last);
    made := made + 1;
  end loop;
  return made;
end
$function$;
revoke execute on function make_event_partitions() from public;
grant execute on function make_event_partitions() to sharedraft_service;

CREATE OR REPLACE FUNCTION newest_event(institution integer)
 RETURNS TABLE(epoch integer, xid xid8)
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select n.epoch, n.xid
  from (
    (select o.epoch, o.xid from outbox o where o.institution_id = institution
     order by o.epoch desc, o.xid desc, o.event_key desc limit 1)
    union all
    select h.epoch, h.xid from event_horizons h where h.institution_id = institution
  ) n
  order by n.epoch desc, n.xid desc limit 1
$function$;

CREATE OR REPLACE FUNCTION note_changes()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  kind text;
begin
  if tg_op = 'TRUNCATE' then
    insert into public.changes select pg_current_xact_id(), i.institution_id, 0 from public.institutions i;
    return null;
  end if;
  foreach kind in array tg_argv loop
    case kind
      when 'institution' then
        insert into public.changes select distinct pg_current_xact_id(), t.institution_id, 0 from touched t;
      when 'core' then
        insert into public.changes select distinct pg_current_xact_id(), t.institution_id, 1 from touched t;
      when 'account' then
        insert into public.changes
        select distinct pg_current_xact_id(), t.institution_id, 4096 + (t.account_key & 4095)::integer from touched t;
      when 'person' then
        insert into public.changes
        select distinct pg_current_xact_id(), t.institution_id, 8192 + (t.person_key & 4095)::integer from touched t;
      when 'user' then
        insert into public.changes
        select distinct pg_current_xact_id(), t.institution_id, 12288 + (t.user_key & 4095)::integer from touched t;
      when 'customer' then
        -- An internal account belongs to no membership.
        insert into public.changes
        select distinct pg_current_xact_id(), t.institution_id, 16384 + (t.customer_key & 4095)::integer from touched t
        where t.customer_key is not null;
      when 'revocation' then
        -- Takes the last bits, because some kinds of UUID begin with a time.
        insert into public.changes
        select distinct pg_current_xact_id(), t.institution_id,
               20480 + ((get_byte(uuid_send(t.revoked_id), 14) & 15) << 8) + get_byte(uuid_send(t.revoked_id), 15)
        from touched t;
    end case;
  end loop;
  return null;
end
$function$;
revoke execute on function note_changes() from public;

CREATE OR REPLACE FUNCTION note_changes_of(described regclass, VARIADIC kinds text[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  arguments text := (select string_agg(quote_literal(kind), ', ') from unnest(kinds) kind);
  part record;
begin
  for part in select * from (values
    ('inserted', 'insert', 'referencing new table as touched'),
    ('updated', 'update', 'referencing new table as touched'),
    ('deleted', 'delete', 'referencing old table as touched'),
    ('truncated', 'truncate', '')) as p (name, event, rows)
  loop
    execute format('create trigger %I after %s on %s %s for each statement execute function note_changes(%s)',
                   'note_' || part.name, part.event, described, part.rows, arguments);
  end loop;
end
$function$;
revoke execute on function note_changes_of(regclass,text[]) from public;

CREATE OR REPLACE FUNCTION note_ended_session()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  insert into logout_notices (institution_id, session_id, client_id, user_key, host)
  select distinct new.institution_id, new.session_id, c.client_id, new.user_key, new.host
  from authorization_grants g
  join clients c on c.institution_id = new.institution_id and c.client_id = g.client_id
    and c.active and c.backchannel_logout_uri is not null
  where g.institution_id = new.institution_id and g.session_id = new.session_id
  on conflict do nothing;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION note_ended_sessions_of_user()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  insert into logout_notices (institution_id, session_id, client_id, user_key, host)
  select distinct new.institution_id, s.session_id, c.client_id, new.user_key, s.host
  from member_sessions s
  join authorization_grants g on g.institution_id = new.institution_id and g.session_id = s.session_id
  join clients c on c.institution_id = new.institution_id and c.client_id = g.client_id
    and c.active and c.backchannel_logout_uri is not null
  where s.institution_id = new.institution_id and s.user_key = new.user_key
    and s.user_epoch = old.token_epoch and s.ended_at is null
  on conflict do nothing;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION note_hosts()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  insert into public.changes values (pg_current_xact_id(), 0, 0);
  return null;
end
$function$;
revoke execute on function note_hosts() from public;

CREATE OR REPLACE FUNCTION operational_figures(at timestamp with time zone, OUT institutions integer, OUT pending integer, OUT due integer, OUT overdue integer, OUT oldest_due_seconds double precision, OUT stopped integer, OUT reviews integer, OUT oldest_review_seconds double precision, OUT feed_lag_seconds double precision, OUT signing_key_age_seconds double precision, OUT reconcile_findings integer, OUT reconcile_age_seconds double precision)
 RETURNS record
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  most constant integer := 10000;
  each record;
  own record;
  present timestamptz;
  lowest_running xid8 := pg_snapshot_xmin(pg_current_snapshot());
begin
  institutions := 0;
  pending := 0;
  due := 0;
  overdue := 0;
  oldest_due_seconds := 0;
  stopped := 0;
  reviews := 0;
  oldest_review_seconds := 0;
  feed_lag_seconds := 0;
  reconcile_findings := 0;
  for each in select i.institution_id as id, i.clock_ahead_seconds as ahead from public.institutions i where i.served = 'here' loop
    perform set_config('sharedraft.institution', each.id::text, true);
    institutions := institutions + 1;
    present := at + make_interval(secs => each.ahead);

    pending := pending + (
      select count(*) from (select from public.pending_transfers p where p.institution_id = each.id limit most) s);

    select count(*) filter (where not d.is_stopped) as due,
           count(*) filter (where not d.is_stopped and d.due_at < present - interval '1 minute') as overdue,
           count(*) filter (where d.is_stopped) as stopped,
           min(d.due_at) filter (where not d.is_stopped) as oldest
    into own
    from (
      select p.due_at,
             p.when_due = 'POST' and exists (
               select from public.transfers t
               join public.users u on u.institution_id = each.id and u.user_key = t.user_key
               where t.institution_id = each.id and t.transfer_key = p.transfer_key
                 and (u.locked_by_operator or not u.active)) as is_stopped
      from public.pending_transfers p
      where p.institution_id = each.id and p.due_at <= present
      order by p.due_at limit most) d;
    due := due + own.due;
    overdue := overdue + own.overdue;
    stopped := stopped + own.stopped;
    oldest_due_seconds := greatest(oldest_due_seconds, extract(epoch from present - own.oldest));

    select count(*) as reviews, min(t.created_at) as oldest
    into own
    from (
      select p.transfer_key from public.pending_transfers p
      where p.institution_id = each.id and p.held_for = 'REVIEW' limit most) r
    join public.transfers t on t.institution_id = each.id and t.transfer_key = r.transfer_key;
    reviews := reviews + own.reviews;
    oldest_review_seconds := greatest(oldest_review_seconds, extract(epoch from present - own.oldest));

    -- The feed returns events below the first running transaction of the institution (ADR 15).
    select min(o.recorded_at) as oldest
    into own
    from (
      select e.recorded_at from public.outbox e
      where e.institution_id = each.id
        and (e.epoch, e.xid) >= ((select coalesce(max(n.epoch), 0) from public.event_epochs n
                                  where n.institution_id = each.id), lowest_running)
        and e.xid >= (select first_running(each.id))
      order by e.epoch, e.xid, e.event_key limit most) o;
    feed_lag_seconds := greatest(feed_lag_seconds, extract(epoch from present - own.oldest));

    select r.findings, r.finished_at into own
    from public.reconcile_runs r where r.institution_id = each.id;
    if found then
      reconcile_findings := reconcile_findings + own.findings;
      reconcile_age_seconds := greatest(reconcile_age_seconds, extract(epoch from at - own.finished_at));
    end if;
  end loop;
  signing_key_age_seconds := (
    select extract(epoch from at - k.signs_from) from public.signing_keys k
    where k.signs_from <= at order by k.generation desc limit 1);
end
$function$;
revoke execute on function operational_figures(timestamp with time zone) from public;
grant execute on function operational_figures(timestamp with time zone) to sharedraft_service;

CREATE OR REPLACE FUNCTION prune_audit_chain(of_chain text, up_to bigint)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  institution constant integer := current_setting('sharedraft.institution');
  kept_days constant integer := greatest(
    case of_chain when 'access' then 90 else 1827 end,
    (select case of_chain when 'access' then r.access_days else r.changes_days end
     from public.audit_retention r where r.institution_id = institution));
  last record;
begin
  perform from public.audit_chains c where c.institution_id = institution and c.chain = of_chain for update;
  select e.chain_hash as hash into last
  from public.audit_entries e
  join public.audit_anchors a on a.institution_id = institution and a.chain = of_chain and a.number = up_to and a.hash = e.chain_hash
  where e.institution_id = institution and e.chain = of_chain and e.chain_number = up_to;
  if not found then
    raise exception 'audit: % of chain % has no anchor', up_to, of_chain using errcode = 'SD112';
  end if;
  if exists (
    select from public.audit_entries e
    where e.institution_id = institution and e.chain = of_chain and e.chain_number <= up_to
      and e.recorded_at >= now() - make_interval(days => kept_days)) then
    raise exception 'audit: an entry of the last % days stays', kept_days using errcode = 'SD112';
  end if;
  update public.audit_chains c set pruned_to = up_to, pruned_hash = last.hash
  where c.institution_id = institution and c.chain = of_chain and c.pruned_to < up_to;
end
$function$;
revoke execute on function prune_audit_chain(text,bigint) from public;
grant execute on function prune_audit_chain(text,bigint) to sharedraft_service;

CREATE OR REPLACE FUNCTION raise_token_epoch()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  new.token_epoch := old.token_epoch + 1;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION refuse_change_of_closed_break()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  raise exception 'core_breaks: a closed break never changes' using errcode = 'SD080';
end
$function$;

CREATE OR REPLACE FUNCTION refuse_failed_login_reset()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  raise exception 'the password of user % has expired and cannot be used again', old.user_key
    using errcode = 'check_violation', constraint = 'users_expired_password';
end
$function$;

CREATE OR REPLACE FUNCTION refuse_lower_token_epoch()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  raise exception 'the tokens of user % are revoked and cannot become active again', old.user_key
    using errcode = 'check_violation', constraint = 'users_token_epoch';
end
$function$;

CREATE OR REPLACE FUNCTION refuse_reopened_balance()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  raise exception 'ledger: a closed balance stays closed' using errcode = 'SD025';
end
$function$;

CREATE OR REPLACE FUNCTION requires_dual_control(institution integer)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select exists (
    select from transfer_policies p
    where p.institution_id = institution and p.second_approval_above is not null)
$function$;

CREATE OR REPLACE FUNCTION seal_audit_entries(of_chain text, previous bytea, keys bigint[], contents bytea[], personals bytea[], salts bytea[], at timestamp with time zone)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  institution constant integer := current_setting('sharedraft.institution');
  zeros constant bytea := decode(repeat('00', 32), 'hex');
  last record;
begin
  insert into public.audit_chains (institution_id, chain, number, hash, pruned_hash)
  values (institution, of_chain, 0, zeros, zeros) on conflict do nothing;
  select c.number, c.hash into last from public.audit_chains c
  where c.institution_id = institution and c.chain = of_chain for update;
  if last.hash <> previous then
    raise exception 'audit: the chain % has grown meanwhile', of_chain using errcode = 'SD111';
  end if;
  for place in 1 .. cardinality(keys) loop
    last.number := last.number + 1;
    last.hash := sha256(last.hash || contents[place]);
    update public.audit_entries e
    set chain = of_chain, chain_number = last.number, chain_hash = last.hash, personal_hash = personals[place],
        personal_salt = salts[place], sealed_at = at
    where e.institution_id = institution and e.audit_key = keys[place] and e.chain_number is null;
    if not found then
      raise exception 'audit: an entry is sealed or missing' using errcode = 'SD111';
    end if;
  end loop;
  update public.audit_chains c set number = last.number, hash = last.hash
  where c.institution_id = institution and c.chain = of_chain;
  return last.number;
end
$function$;
revoke execute on function seal_audit_entries(text,bytea,bigint[],bytea[],bytea[],bytea[],timestamp with time zone) from public;
grant execute on function seal_audit_entries(text,bytea,bigint[],bytea[],bytea[],bytea[],timestamp with time zone) to sharedraft_service;

CREATE OR REPLACE FUNCTION set_list_class()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  new.list_class := public.list_class_of(new.status, new.transfer_type);
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION share_a_person(one text[], other text[])
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select exists (select from unnest(one) a join unnest(other) b on fold_name(a) = fold_name(b))
$function$;

CREATE OR REPLACE FUNCTION subtract_from_control_total()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  perform add_to_control_total(-sum(
    control_number(o.kind, t.transfer_key, t.from_key, -o.amount)::numeric
    + control_number(o.kind, t.transfer_key, t.to_key, o.amount)))
  from written t
  cross join lateral (
    select case when tg_op = 'INSERT' and t.status = 'PENDING' then 'HOLD' when tg_op = 'INSERT' then 'TRANSFER'
                when t.status = 'COMPLETED' then 'SETTLEMENT' else 'RELEASE' end as kind,
           case when t.status = 'FAILED' then -t.amount else t.amount end as amount
  ) o
  where t.status <> 'FAILED' or tg_op = 'UPDATE';
  return null;
end
$function$;
revoke execute on function subtract_from_control_total() from public;

CREATE OR REPLACE FUNCTION transfers_to_settle(at_time timestamp with time zone)
 RETURNS TABLE(institution integer)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  ahead bigint;
begin
  for institution, ahead in select i.institution_id, i.clock_ahead_seconds from public.institutions i where i.served = 'here' loop
    perform set_config('sharedraft.institution', institution::text, true);
    if exists (
      select from public.pending_transfers p
      join public.transfers t on t.institution_id = institution and t.transfer_key = p.transfer_key
      where p.institution_id = institution and p.due_at <= at_time + make_interval(secs => ahead)
        and not (p.when_due = 'POST' and exists (
          select from public.users u
          where u.institution_id = institution and u.user_key = t.user_key and (u.locked_by_operator or not u.active)))
        and not (p.held_for = 'CORE' and exists (
          select from public.core_instructions c
          where c.institution_id = institution and c.instruction_key = p.transfer_key and c.delivered_at is not null)))
    then
      return next;
    end if;
  end loop;
end
$function$;
revoke execute on function transfers_to_settle(timestamp with time zone) from public;
grant execute on function transfers_to_settle(timestamp with time zone) to sharedraft_service;

CREATE OR REPLACE FUNCTION webhook_figures(at timestamp with time zone, OUT active integer, OUT failing integer, OUT paused integer, OUT disabled integer, OUT waiting integer, OUT parked integer, OUT lag_seconds double precision)
 RETURNS record
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  most constant integer := 10000;
  each record;
  own record;
  present timestamptz;
begin
  active := 0;
  failing := 0;
  paused := 0;
  disabled := 0;
  waiting := 0;
  parked := 0;
  lag_seconds := 0;
  for each in select i.institution_id as id, i.clock_ahead_seconds as ahead from public.institutions i where i.served = 'here' loop
    perform set_config('sharedraft.institution', each.id::text, true);
    present := at + make_interval(secs => each.ahead);

    select count(*) filter (where e.status = 'ACTIVE' and e.failures = 0) as active,
           count(*) filter (where e.status = 'ACTIVE' and e.failures > 0) as failing,
           count(*) filter (where e.status = 'PAUSED') as paused,
           count(*) filter (where e.status = 'DISABLED') as disabled
    into own
    from public.webhook_endpoints e where e.institution_id = each.id and e.transport = 'HTTPS';
    active := active + own.active;
    failing := failing + own.failing;
    paused := paused + own.paused;
    disabled := disabled + own.disabled;
    continue when own.active + own.failing + own.paused + own.disabled = 0;

    select count(*) filter (where d.state = 'WAITING') as waiting, count(*) filter (where d.state = 'PARKED') as parked
    into own
    from (
      select w.state
      from public.webhook_deliveries w
      join public.webhook_endpoints e on e.institution_id = each.id and e.endpoint_id = w.endpoint_id and e.transport = 'HTTPS'
      where w.institution_id = each.id limit most) d;
    waiting := waiting + own.waiting;
    parked := parked + own.parked;

    -- Of each active endpoint: the first event ahead of its position, or the first that waits behind it.
    select min(least(ahead.recorded_at, behind.recorded_at)) as oldest
    into own
    from public.webhook_endpoints e
    left join lateral (
      select o.recorded_at from public.outbox o
      where o.institution_id = each.id and (o.epoch, o.xid, o.event_key) > (e.epoch, e.xid, e.event_key)
      order by o.epoch, o.xid, o.event_key limit 1) ahead on true
    left join lateral (
      select o.recorded_at
      from public.webhook_deliveries d
      join public.outbox o on o.institution_id = each.id and o.event_key = d.event_key
      where d.institution_id = each.id and d.endpoint_id = e.endpoint_id and d.state = 'WAITING'
      order by d.number limit 1) behind on true
    where e.institution_id = each.id and e.status = 'ACTIVE' and e.transport = 'HTTPS';
    lag_seconds := greatest(lag_seconds, extract(epoch from present - own.oldest));
  end loop;
end
$function$;
revoke execute on function webhook_figures(timestamp with time zone) from public;
grant execute on function webhook_figures(timestamp with time zone) to sharedraft_service;

CREATE OR REPLACE FUNCTION webhooks_to_send(at_time timestamp with time zone, most integer)
 RETURNS TABLE(institution integer, endpoint uuid)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  for institution in select i.institution_id from public.institutions i where i.served = 'here' loop
    perform set_config('sharedraft.institution', institution::text, true);
    for endpoint in
      select e.endpoint_id
      from webhook_endpoints e
      where e.institution_id = institution and e.status = 'ACTIVE'
        and (e.lease_until is null or e.lease_until <= at_time)
        and (e.next_attempt_at is null or e.next_attempt_at <= at_time)
        -- The first event is ordered, so that the index is read: "exists" expects a match soon and may read the table.
        and ((select true from outbox o
              where o.institution_id = institution
                and (o.epoch, o.xid, o.event_key) > (e.epoch, e.xid, e.event_key)
              order by o.epoch, o.xid, o.event_key limit 1)
             or exists (
               select from webhook_deliveries d
               where d.institution_id = institution and d.endpoint_id = e.endpoint_id and d.state = 'WAITING'
                 and (d.next_attempt_at is null or d.next_attempt_at <= at_time)))
      limit most
    loop
      return next;
    end loop;
  end loop;
end
$function$;
revoke execute on function webhooks_to_send(timestamp with time zone,integer) from public;
grant execute on function webhooks_to_send(timestamp with time zone,integer) to sharedraft_service;

CREATE OR REPLACE FUNCTION write_events_of(institution integer)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if pg_current_xact_id_if_assigned() is not null then
    raise exception 'events: the transaction has written before it was bound to institution %', institution using errcode = 'SD027';
  end if;
  perform set_config('sharedraft.events_of', institution::text, true);
  perform pg_advisory_xact_lock_shared(7305109, institution);
end
$function$;

-- ---------------------------------------------------------------------------------------------------------
-- Constraints and indexes that call functions

CREATE UNIQUE INDEX operators_by_name ON operators USING btree (institution_id, fold_name(name));

alter table proposals add constraint proposals_two_persons CHECK (NOT share_a_person(ARRAY[proposed_by, proposed_sudo], ARRAY[confirmed_by, confirmed_sudo]));

-- ---------------------------------------------------------------------------------------------------------
-- Triggers: institutions

CREATE TRIGGER institutions_clock_moved BEFORE UPDATE OF clock_ahead_seconds ON institutions FOR EACH ROW EXECUTE FUNCTION check_sandbox_clock();
CREATE TRIGGER institutions_served_in_order BEFORE INSERT OR UPDATE OF served ON institutions FOR EACH ROW EXECUTE FUNCTION check_served();
CREATE TRIGGER note_deleted AFTER DELETE ON institutions REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('institution');
CREATE TRIGGER note_hosts_deleted AFTER DELETE ON institutions FOR EACH ROW WHEN (old.host IS NOT NULL) EXECUTE FUNCTION note_hosts();
CREATE TRIGGER note_hosts_inserted AFTER INSERT ON institutions FOR EACH ROW WHEN (new.host IS NOT NULL) EXECUTE FUNCTION note_hosts();
CREATE TRIGGER note_hosts_updated AFTER UPDATE OF host, served ON institutions FOR EACH ROW WHEN (new.host IS DISTINCT FROM old.host OR new.host IS NOT NULL AND new.served <> old.served) EXECUTE FUNCTION note_hosts();
CREATE TRIGGER note_inserted AFTER INSERT ON institutions REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('institution');
CREATE TRIGGER note_truncated AFTER TRUNCATE ON institutions FOR EACH STATEMENT EXECUTE FUNCTION note_changes('institution');
CREATE TRIGGER note_updated AFTER UPDATE ON institutions REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('institution');

-- ---------------------------------------------------------------------------------------------------------
-- Triggers: members

CREATE TRIGGER note_deleted AFTER DELETE ON persons REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('person');
CREATE TRIGGER note_inserted AFTER INSERT ON persons REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('person');
CREATE TRIGGER note_truncated AFTER TRUNCATE ON persons FOR EACH STATEMENT EXECUTE FUNCTION note_changes('person');
CREATE TRIGGER note_updated AFTER UPDATE ON persons REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('person');
CREATE TRIGGER persons_erased BEFORE UPDATE ON persons FOR EACH ROW WHEN (old.erased_at IS NOT NULL OR new.erased_at IS NOT NULL) EXECUTE FUNCTION check_person_erased();

CREATE TRIGGER note_deleted AFTER DELETE ON customers REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('customer');
CREATE TRIGGER note_inserted AFTER INSERT ON customers REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('customer');
CREATE TRIGGER note_truncated AFTER TRUNCATE ON customers FOR EACH STATEMENT EXECUTE FUNCTION note_changes('customer');
CREATE TRIGGER note_updated AFTER UPDATE ON customers REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('customer');

CREATE TRIGGER note_deleted AFTER DELETE ON customer_persons REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('customer', 'person');
CREATE TRIGGER note_inserted AFTER INSERT ON customer_persons REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('customer', 'person');
CREATE TRIGGER note_truncated AFTER TRUNCATE ON customer_persons FOR EACH STATEMENT EXECUTE FUNCTION note_changes('customer', 'person');
CREATE TRIGGER note_updated AFTER UPDATE ON customer_persons REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('customer', 'person');

CREATE TRIGGER note_deleted AFTER DELETE ON users REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('user');
CREATE TRIGGER note_inserted AFTER INSERT ON users REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('user');
CREATE TRIGGER note_truncated AFTER TRUNCATE ON users FOR EACH STATEMENT EXECUTE FUNCTION note_changes('user');
CREATE TRIGGER note_updated AFTER UPDATE ON users REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('user');
CREATE TRIGGER users_email_verified AFTER INSERT OR UPDATE OF verified_email, email_verified_by ON users FOR EACH ROW WHEN (new.verified_email IS NOT NULL) EXECUTE FUNCTION check_verified_email();
CREATE TRIGGER users_expired_password BEFORE UPDATE OF failed_logins ON users FOR EACH ROW WHEN (old.failed_logins = 100 AND new.failed_logins < 100 AND NOT new.password_hash IS DISTINCT FROM old.password_hash) EXECUTE FUNCTION refuse_failed_login_reset();
CREATE TRIGGER users_provider_tokens BEFORE UPDATE OF active, locked_by_operator, tokens_ended_at ON users FOR EACH ROW WHEN (old.active IS DISTINCT FROM new.active OR old.locked_by_operator IS DISTINCT FROM new.locked_by_operator OR old.tokens_ended_at IS DISTINCT FROM new.tokens_ended_at) EXECUTE FUNCTION end_provider_tokens();
CREATE TRIGGER users_revoke_tokens BEFORE UPDATE OF active, locked_by_operator ON users FOR EACH ROW WHEN (old.active AND NOT new.active OR NOT old.locked_by_operator AND new.locked_by_operator) EXECUTE FUNCTION raise_token_epoch();
CREATE TRIGGER users_sessions_ended AFTER UPDATE ON users FOR EACH ROW WHEN (new.token_epoch > old.token_epoch) EXECUTE FUNCTION note_ended_sessions_of_user();
CREATE TRIGGER users_token_epoch BEFORE UPDATE OF token_epoch ON users FOR EACH ROW WHEN (new.token_epoch < old.token_epoch) EXECUTE FUNCTION refuse_lower_token_epoch();

CREATE TRIGGER note_deleted AFTER DELETE ON user_phones REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('user');
CREATE TRIGGER note_inserted AFTER INSERT ON user_phones REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('user');
CREATE TRIGGER note_truncated AFTER TRUNCATE ON user_phones FOR EACH STATEMENT EXECUTE FUNCTION note_changes('user');
CREATE TRIGGER note_updated AFTER UPDATE ON user_phones REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('user');

-- ---------------------------------------------------------------------------------------------------------
-- Triggers: auth

CREATE TRIGGER clients_fapi2_credentials BEFORE UPDATE OF security_profile ON clients FOR EACH ROW WHEN (new.security_profile = 'FAPI2'::text) EXECUTE FUNCTION check_fapi2_client();
CREATE TRIGGER clients_revoke_tokens BEFORE UPDATE OF active ON clients FOR EACH ROW WHEN (old.active AND NOT new.active) EXECUTE FUNCTION raise_token_epoch();
CREATE TRIGGER note_deleted AFTER DELETE ON clients REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('institution');
CREATE TRIGGER note_inserted AFTER INSERT ON clients REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('institution');
CREATE TRIGGER note_truncated AFTER TRUNCATE ON clients FOR EACH STATEMENT EXECUTE FUNCTION note_changes('institution');
CREATE TRIGGER note_updated AFTER UPDATE ON clients REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('institution');

CREATE TRIGGER client_secrets_fapi2 BEFORE INSERT ON client_secrets FOR EACH ROW EXECUTE FUNCTION check_fapi2_credential();

CREATE TRIGGER client_keys_fapi2 BEFORE INSERT ON client_keys FOR EACH ROW EXECUTE FUNCTION check_fapi2_credential();

CREATE TRIGGER identity_providers_changed BEFORE UPDATE ON identity_providers FOR EACH ROW EXECUTE FUNCTION check_provider_generation();
CREATE TRIGGER identity_providers_tokens BEFORE UPDATE OF active, resource_tokens, tokens_ended_at ON identity_providers FOR EACH ROW WHEN (old.active IS DISTINCT FROM new.active OR old.resource_tokens IS DISTINCT FROM new.resource_tokens OR old.tokens_ended_at IS DISTINCT FROM new.tokens_ended_at) EXECUTE FUNCTION end_provider_tokens();
CREATE TRIGGER note_deleted AFTER DELETE ON identity_providers REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('institution');
CREATE TRIGGER note_inserted AFTER INSERT ON identity_providers REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('institution');
CREATE TRIGGER note_truncated AFTER TRUNCATE ON identity_providers FOR EACH STATEMENT EXECUTE FUNCTION note_changes('institution');
CREATE TRIGGER note_updated AFTER UPDATE ON identity_providers REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('institution');

CREATE TRIGGER refresh_families_bound BEFORE INSERT ON refresh_families FOR EACH ROW EXECUTE FUNCTION check_new_refresh_family();
CREATE TRIGGER refresh_families_renewed BEFORE UPDATE ON refresh_families FOR EACH ROW EXECUTE FUNCTION check_refresh_family();

CREATE TRIGGER note_deleted AFTER DELETE ON revocations REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('revocation');
CREATE TRIGGER note_inserted AFTER INSERT ON revocations REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('revocation');
CREATE TRIGGER note_truncated AFTER TRUNCATE ON revocations FOR EACH STATEMENT EXECUTE FUNCTION note_changes('revocation');
CREATE TRIGGER note_updated AFTER UPDATE ON revocations REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('revocation');

-- ---------------------------------------------------------------------------------------------------------
-- Triggers: accounts

CREATE TRIGGER accounts_closed_for_good BEFORE UPDATE OF closed_by_operator ON accounts FOR EACH ROW WHEN (new.closed_by_operator IS DISTINCT FROM old.closed_by_operator) EXECUTE FUNCTION check_account_closed();
CREATE TRIGGER note_deleted AFTER DELETE ON accounts REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('account', 'customer');
CREATE TRIGGER note_inserted AFTER INSERT ON accounts REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('account', 'customer');
CREATE TRIGGER note_truncated AFTER TRUNCATE ON accounts FOR EACH STATEMENT EXECUTE FUNCTION note_changes('account', 'customer');
CREATE TRIGGER note_updated AFTER UPDATE ON accounts REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('account', 'customer');

CREATE TRIGGER note_deleted AFTER DELETE ON holders REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('account', 'person');
CREATE TRIGGER note_inserted AFTER INSERT ON holders REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('account', 'person');
CREATE TRIGGER note_truncated AFTER TRUNCATE ON holders FOR EACH STATEMENT EXECUTE FUNCTION note_changes('account', 'person');
CREATE TRIGGER note_updated AFTER UPDATE ON holders REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('account', 'person');

CREATE TRIGGER note_deleted AFTER DELETE ON loans REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('account');
CREATE TRIGGER note_inserted AFTER INSERT ON loans REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('account');
CREATE TRIGGER note_truncated AFTER TRUNCATE ON loans FOR EACH STATEMENT EXECUTE FUNCTION note_changes('account');
CREATE TRIGGER note_updated AFTER UPDATE ON loans REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('account');

-- ---------------------------------------------------------------------------------------------------------
-- Triggers: ledger

CREATE TRIGGER balances_closed_for_good BEFORE UPDATE OF closed ON balances FOR EACH ROW WHEN (old.closed AND NOT new.closed) EXECUTE FUNCTION refuse_reopened_balance();
CREATE TRIGGER balances_moved AFTER UPDATE ON balances REFERENCING NEW TABLE AS became FOR EACH STATEMENT EXECUTE FUNCTION check_balances();
CREATE TRIGGER balances_opened AFTER INSERT ON balances REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION check_new_balances();

CREATE CONSTRAINT TRIGGER entries_released AFTER INSERT ON entries DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.kind = 'RELEASE'::text) EXECUTE FUNCTION check_release();
CREATE TRIGGER entries_written AFTER INSERT ON entries REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION check_entries();

CREATE TRIGGER loan_payments_written AFTER INSERT ON loan_payments REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION check_loan_payments();

CREATE CONSTRAINT TRIGGER control_totals_are_zero AFTER INSERT ON control_totals DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_control_total();

-- ---------------------------------------------------------------------------------------------------------
-- Triggers: transfers

CREATE TRIGGER transfers_classified BEFORE INSERT OR UPDATE ON transfers FOR EACH ROW WHEN (new.list_class IS DISTINCT FROM list_class_of(new.status, new.transfer_type)) EXECUTE FUNCTION set_list_class();
ALTER TABLE transfers ENABLE ALWAYS TRIGGER transfers_classified;
CREATE TRIGGER transfers_final BEFORE UPDATE ON transfers FOR EACH ROW EXECUTE FUNCTION check_transfer_transition();
CREATE TRIGGER transfers_instructed AFTER INSERT ON transfers REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION check_transfers_instructed();
CREATE TRIGGER transfers_ordered AFTER INSERT ON transfers REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION subtract_from_control_total();
CREATE TRIGGER transfers_posted AFTER UPDATE ON transfers REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION subtract_from_control_total();
CREATE TRIGGER transfers_reserved AFTER INSERT ON transfers REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION check_transfer_id_reserved();
CREATE CONSTRAINT TRIGGER transfers_reversing AFTER INSERT ON transfers DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.reverses_key IS NOT NULL) EXECUTE FUNCTION check_reversal();
CREATE TRIGGER transfers_screened AFTER INSERT ON transfers REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION check_transfers_screened();
CREATE TRIGGER transfers_stepped_up AFTER INSERT ON transfers REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION check_transfers_stepped_up();
CREATE TRIGGER transfers_unrestricted AFTER INSERT ON transfers REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION check_transfers_unrestricted();
CREATE CONSTRAINT TRIGGER transfers_waiting AFTER INSERT ON transfers DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.status = 'PENDING'::text) EXECUTE FUNCTION check_pending_transfer_exists();

CREATE TRIGGER pending_transfers_changed BEFORE UPDATE ON pending_transfers FOR EACH ROW WHEN (new.held_for IS DISTINCT FROM old.held_for OR new.due_at IS DISTINCT FROM old.due_at OR new.when_due IS DISTINCT FROM old.when_due) EXECUTE FUNCTION check_pending_terms();
CREATE TRIGGER pending_transfers_ended AFTER DELETE ON pending_transfers FOR EACH ROW EXECUTE FUNCTION check_pending_transfer_removed();
CREATE TRIGGER pending_transfers_screened AFTER INSERT ON pending_transfers REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION check_holds_screened();
CREATE TRIGGER pending_transfers_written AFTER INSERT ON pending_transfers REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION check_pending_transfers();

CREATE TRIGGER transfer_approvals_distinct_persons BEFORE INSERT ON transfer_approvals FOR EACH ROW EXECUTE FUNCTION check_approval_by_another_person();

CREATE TRIGGER transfer_id_prefixes_apart BEFORE INSERT ON transfer_id_prefixes FOR EACH ROW EXECUTE FUNCTION check_transfer_id_prefix();

-- ---------------------------------------------------------------------------------------------------------
-- Triggers: transfer rules

CREATE TRIGGER transfer_policies_confirmed BEFORE INSERT OR DELETE OR UPDATE ON transfer_policies FOR EACH STATEMENT EXECUTE FUNCTION check_rules_confirmed();

CREATE TRIGGER transfer_limits_confirmed BEFORE INSERT OR DELETE OR UPDATE ON transfer_limits FOR EACH STATEMENT EXECUTE FUNCTION check_rules_confirmed();

CREATE TRIGGER limit_counters_lowered BEFORE UPDATE ON limit_counters FOR EACH ROW WHEN (new.amount < old.amount OR new.transfers < old.transfers) EXECUTE FUNCTION check_limit_counter_lowered();

CREATE TRIGGER limit_uses_dropped AFTER DELETE ON limit_uses FOR EACH ROW EXECUTE FUNCTION check_limit_use_removed();
CREATE TRIGGER limit_uses_written AFTER INSERT ON limit_uses FOR EACH ROW EXECUTE FUNCTION check_limit_use();

CREATE TRIGGER business_days_confirmed BEFORE INSERT OR DELETE OR UPDATE ON business_days FOR EACH STATEMENT EXECUTE FUNCTION check_rules_confirmed();

CREATE TRIGGER contribution_limits_confirmed BEFORE INSERT OR DELETE OR UPDATE ON contribution_limits FOR EACH STATEMENT EXECUTE FUNCTION check_rules_confirmed();

CREATE TRIGGER proposals_confirmed BEFORE UPDATE ON proposals FOR EACH ROW EXECUTE FUNCTION check_proposal_confirmed();

-- ---------------------------------------------------------------------------------------------------------
-- Triggers: events

CREATE TRIGGER note_deleted AFTER DELETE ON event_epochs REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('institution');
CREATE TRIGGER note_inserted AFTER INSERT ON event_epochs REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('institution');
CREATE TRIGGER note_truncated AFTER TRUNCATE ON event_epochs FOR EACH STATEMENT EXECUTE FUNCTION note_changes('institution');
CREATE TRIGGER note_updated AFTER UPDATE ON event_epochs REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('institution');

CREATE TRIGGER audit_entries_kept BEFORE DELETE OR UPDATE ON audit_entries FOR EACH ROW WHEN (old.chain_number IS NOT NULL) EXECUTE FUNCTION check_audit_entry_kept();
CREATE TRIGGER audit_entries_operator BEFORE INSERT ON audit_entries FOR EACH ROW WHEN (new.operator_id IS NOT NULL AND new.outcome = 'succeeded'::text) EXECUTE FUNCTION check_operator_acts();
CREATE TRIGGER audit_entries_typed_operator BEFORE INSERT ON audit_entries FOR EACH ROW WHEN (new.operator_as IS NOT NULL) EXECUTE FUNCTION check_typed_operator();

CREATE TRIGGER outbox_secret_deleted BEFORE UPDATE ON outbox FOR EACH ROW EXECUTE FUNCTION check_event_secret_deleted();
CREATE TRIGGER outbox_writer BEFORE INSERT ON outbox FOR EACH STATEMENT WHEN (NULLIF(current_setting('sharedraft.events_of'::text, true), ''::text) <> current_setting('sharedraft.institution'::text, true)) EXECUTE FUNCTION check_event_writer();

-- ---------------------------------------------------------------------------------------------------------
-- Triggers: core system

CREATE TRIGGER openings_counted AFTER INSERT OR UPDATE ON openings FOR EACH ROW EXECUTE FUNCTION count_opening();

-- ---------------------------------------------------------------------------------------------------------
-- Triggers: event numbers

CREATE TRIGGER event_marks_counted BEFORE INSERT ON event_marks FOR EACH ROW EXECUTE FUNCTION check_event_mark();

-- ---------------------------------------------------------------------------------------------------------
-- Triggers: core connection

CREATE TRIGGER core_transactions_written AFTER INSERT ON core_transactions REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION check_core_transactions();
CREATE TRIGGER note_deleted AFTER DELETE ON core_transactions REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('account');
CREATE TRIGGER note_inserted AFTER INSERT ON core_transactions REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('account');
CREATE TRIGGER note_truncated AFTER TRUNCATE ON core_transactions FOR EACH STATEMENT EXECUTE FUNCTION note_changes('account');
CREATE TRIGGER note_updated AFTER UPDATE ON core_transactions REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('account');

CREATE TRIGGER core_authorizations_begun AFTER INSERT ON core_authorizations REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION count_core_authorizations();
CREATE TRIGGER core_authorizations_changed AFTER UPDATE ON core_authorizations REFERENCING OLD TABLE AS replaced NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION count_changed_core_authorizations();
CREATE TRIGGER note_deleted AFTER DELETE ON core_authorizations REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('account');
CREATE TRIGGER note_inserted AFTER INSERT ON core_authorizations REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('account');
CREATE TRIGGER note_truncated AFTER TRUNCATE ON core_authorizations FOR EACH STATEMENT EXECUTE FUNCTION note_changes('account');
CREATE TRIGGER note_updated AFTER UPDATE ON core_authorizations REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('account');

-- ---------------------------------------------------------------------------------------------------------
-- Triggers: core instructions

CREATE TRIGGER core_instructions_final BEFORE UPDATE ON core_instructions FOR EACH ROW EXECUTE FUNCTION check_instruction_change();
CREATE CONSTRAINT TRIGGER core_instructions_followed AFTER UPDATE ON core_instructions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.state <> old.state) EXECUTE FUNCTION check_instruction();
CREATE CONSTRAINT TRIGGER core_instructions_issued AFTER INSERT ON core_instructions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_instruction();

CREATE TRIGGER note_deleted AFTER DELETE ON core_connections REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('core');
CREATE TRIGGER note_inserted AFTER INSERT ON core_connections REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('core');
CREATE TRIGGER note_truncated AFTER TRUNCATE ON core_connections FOR EACH STATEMENT EXECUTE FUNCTION note_changes('core');
CREATE TRIGGER note_updated AFTER UPDATE ON core_connections REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('core');

-- ---------------------------------------------------------------------------------------------------------
-- Triggers: authorization

CREATE TRIGGER member_sessions_end BEFORE UPDATE ON member_sessions FOR EACH ROW EXECUTE FUNCTION check_session();
CREATE TRIGGER member_sessions_ended AFTER UPDATE ON member_sessions FOR EACH ROW WHEN (old.ended_at IS NULL AND new.ended_at IS NOT NULL) EXECUTE FUNCTION note_ended_session();

CREATE TRIGGER consents_end BEFORE UPDATE ON consents FOR EACH ROW EXECUTE FUNCTION check_consent();
CREATE TRIGGER note_deleted AFTER DELETE ON consents REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('user');
CREATE TRIGGER note_inserted AFTER INSERT ON consents REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('user');
CREATE TRIGGER note_truncated AFTER TRUNCATE ON consents FOR EACH STATEMENT EXECUTE FUNCTION note_changes('user');
CREATE TRIGGER note_updated AFTER UPDATE ON consents REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_changes('user');

CREATE TRIGGER authorization_grants_once BEFORE UPDATE ON authorization_grants FOR EACH ROW EXECUTE FUNCTION check_authorization_grant();
CREATE TRIGGER authorization_grants_within_consent BEFORE INSERT ON authorization_grants FOR EACH ROW EXECUTE FUNCTION check_new_authorization_grant();

-- ---------------------------------------------------------------------------------------------------------
-- Triggers: breaks

CREATE TRIGGER core_breaks_adjusted BEFORE UPDATE ON core_breaks FOR EACH ROW WHEN (new.adjusted_seq IS NOT NULL AND old.closed_at IS NULL) EXECUTE FUNCTION check_break_adjusted();
CREATE TRIGGER core_breaks_closed_for_good BEFORE UPDATE ON core_breaks FOR EACH ROW WHEN (old.closed_at IS NOT NULL) EXECUTE FUNCTION refuse_change_of_closed_break();

-- ---------------------------------------------------------------------------------------------------------
-- Triggers: passkeys

CREATE TRIGGER passkeys_count BEFORE UPDATE ON passkeys FOR EACH ROW EXECUTE FUNCTION check_passkey();

-- ---------------------------------------------------------------------------------------------------------
-- Triggers: operators

CREATE TRIGGER operators_change BEFORE INSERT OR UPDATE ON operators FOR EACH ROW EXECUTE FUNCTION check_operator();

CREATE TRIGGER operator_sessions_begin BEFORE INSERT ON operator_sessions FOR EACH ROW EXECUTE FUNCTION check_operator_session();

-- ---------------------------------------------------------------------------------------------------------
-- Triggers: operator passkeys

CREATE TRIGGER operator_passkeys_owner BEFORE INSERT ON operator_passkeys FOR EACH ROW EXECUTE FUNCTION check_operator_passkey();

-- ---------------------------------------------------------------------------------------------------------
-- Triggers: consent accounts

CREATE TRIGGER consent_accounts_added AFTER INSERT ON consent_accounts REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION count_consent_changes();
CREATE TRIGGER consent_accounts_changed AFTER UPDATE ON consent_accounts REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION count_consent_changes();
CREATE TRIGGER consent_accounts_named BEFORE INSERT OR UPDATE ON consent_accounts FOR EACH ROW EXECUTE FUNCTION check_consent_account();
CREATE TRIGGER consent_accounts_removed AFTER DELETE ON consent_accounts REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION count_consent_changes();

CREATE TRIGGER transfer_consents_cover AFTER INSERT ON transfer_consents REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION check_transfers_consented();

-- ---------------------------------------------------------------------------------------------------------
-- Triggers: second factor

CREATE TRIGGER authenticators_step BEFORE UPDATE ON authenticators FOR EACH ROW EXECUTE FUNCTION check_authenticator();

-- ---------------------------------------------------------------------------------------------------------
-- Triggers: client certificates

CREATE TRIGGER client_certificates_fapi2 BEFORE INSERT ON client_certificates FOR EACH ROW EXECUTE FUNCTION check_fapi2_credential();

-- ---------------------------------------------------------------------------------------------------------
-- Triggers: reconcile findings

CREATE TRIGGER reconcile_results_kept_for_a_time BEFORE DELETE ON reconcile_results FOR EACH ROW EXECUTE FUNCTION check_reconcile_result_old();
CREATE TRIGGER reconcile_results_whole AFTER INSERT ON reconcile_results REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION check_reconcile_result();

CREATE TRIGGER reconcile_findings_whole AFTER INSERT ON reconcile_findings REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION check_reconcile_result();

-- ---------------------------------------------------------------------------------------------------------
-- Row-level security

alter table accounts enable row level security, force row level security;
create policy institution on accounts using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on accounts for select to sharedraft_backup using (true);

alter table activations enable row level security, force row level security;
create policy institution on activations using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on activations for select to sharedraft_backup using (true);

alter table alert_positions enable row level security, force row level security;
create policy institution on alert_positions using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on alert_positions for select to sharedraft_backup using (true);

alter table alert_preferences enable row level security, force row level security;
create policy institution on alert_preferences using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on alert_preferences for select to sharedraft_backup using (true);

alter table alert_rules enable row level security, force row level security;
create policy institution on alert_rules using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on alert_rules for select to sharedraft_backup using (true);

alter table alerts enable row level security, force row level security;
create policy institution on alerts using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on alerts for select to sharedraft_backup using (true);

alter table audit_anchors enable row level security, force row level security;
create policy institution on audit_anchors using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on audit_anchors for select to sharedraft_backup using (true);

alter table audit_chains enable row level security, force row level security;
create policy institution on audit_chains using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on audit_chains for select to sharedraft_backup using (true);

alter table audit_entries enable row level security, force row level security;
create policy institution on audit_entries using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on audit_entries for select to sharedraft_backup using (true);

alter table audit_retention enable row level security, force row level security;
create policy institution on audit_retention using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on audit_retention for select to sharedraft_backup using (true);

alter table authenticators enable row level security, force row level security;
create policy institution on authenticators using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on authenticators for select to sharedraft_backup using (true);

alter table authorization_grants enable row level security, force row level security;
create policy institution on authorization_grants using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on authorization_grants for select to sharedraft_backup using (true);

alter table balances enable row level security, force row level security;
create policy institution on balances using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on balances for select to sharedraft_backup using (true);

alter table business_days enable row level security, force row level security;
create policy institution on business_days using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on business_days for select to sharedraft_backup using (true);

alter table client_assertion_replays enable row level security, force row level security;
create policy institution on client_assertion_replays using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on client_assertion_replays for select to sharedraft_backup using (true);

alter table client_certificates enable row level security, force row level security;
create policy institution on client_certificates using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on client_certificates for select to sharedraft_backup using (true);

alter table client_keys enable row level security, force row level security;
create policy institution on client_keys using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on client_keys for select to sharedraft_backup using (true);

alter table client_secrets enable row level security, force row level security;
create policy institution on client_secrets using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on client_secrets for select to sharedraft_backup using (true);

alter table clients enable row level security, force row level security;
create policy institution on clients using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on clients for select to sharedraft_backup using (true);

alter table consent_accounts enable row level security, force row level security;
create policy institution on consent_accounts using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on consent_accounts for select to sharedraft_backup using (true);

alter table consents enable row level security, force row level security;
create policy institution on consents using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on consents for select to sharedraft_backup using (true);

alter table contribution_limits enable row level security, force row level security;
create policy institution on contribution_limits using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on contribution_limits for select to sharedraft_backup using (true);

alter table core_authorizations enable row level security, force row level security;
create policy institution on core_authorizations using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on core_authorizations for select to sharedraft_backup using (true);

alter table core_break_notes enable row level security, force row level security;
create policy institution on core_break_notes using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on core_break_notes for select to sharedraft_backup using (true);

alter table core_breaks enable row level security, force row level security;
create policy institution on core_breaks using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on core_breaks for select to sharedraft_backup using (true);

alter table core_comparisons enable row level security, force row level security;
create policy institution on core_comparisons using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on core_comparisons for select to sharedraft_backup using (true);

alter table core_connections enable row level security, force row level security;
create policy institution on core_connections using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on core_connections for select to sharedraft_backup using (true);

alter table core_instructions enable row level security, force row level security;
create policy institution on core_instructions using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on core_instructions for select to sharedraft_backup using (true);

alter table core_record_versions enable row level security, force row level security;
create policy institution on core_record_versions using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on core_record_versions for select to sharedraft_backup using (true);

alter table core_transactions enable row level security, force row level security;
create policy institution on core_transactions using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on core_transactions for select to sharedraft_backup using (true);

alter table customer_persons enable row level security, force row level security;
create policy institution on customer_persons using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on customer_persons for select to sharedraft_backup using (true);

alter table customers enable row level security, force row level security;
create policy institution on customers using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on customers for select to sharedraft_backup using (true);

alter table dpop_proofs enable row level security, force row level security;
create policy institution on dpop_proofs using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on dpop_proofs for select to sharedraft_backup using (true);

alter table email_codes enable row level security, force row level security;
create policy institution on email_codes using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on email_codes for select to sharedraft_backup using (true);

alter table entries enable row level security, force row level security;
create policy institution on entries using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on entries for select to sharedraft_backup using (true);

alter table event_archived_entries enable row level security, force row level security;
create policy institution on event_archived_entries using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on event_archived_entries for select to sharedraft_backup using (true);

alter table event_epochs enable row level security, force row level security;
create policy institution on event_epochs using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on event_epochs for select to sharedraft_backup using (true);

alter table event_horizons enable row level security, force row level security;
create policy institution on event_horizons using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on event_horizons for select to sharedraft_backup using (true);

alter table event_marks enable row level security, force row level security;
create policy institution on event_marks using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on event_marks for select to sharedraft_backup using (true);

alter table holders enable row level security, force row level security;
create policy institution on holders using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on holders for select to sharedraft_backup using (true);

alter table idempotency_keys enable row level security, force row level security;
create policy institution on idempotency_keys using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on idempotency_keys for select to sharedraft_backup using (true);

alter table identity_providers enable row level security, force row level security;
create policy institution on identity_providers using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on identity_providers for select to sharedraft_backup using (true);

alter table limit_counters enable row level security, force row level security;
create policy institution on limit_counters using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on limit_counters for select to sharedraft_backup using (true);

alter table limit_keys enable row level security, force row level security;
create policy institution on limit_keys using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on limit_keys for select to sharedraft_backup using (true);

alter table limit_uses enable row level security, force row level security;
create policy institution on limit_uses using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on limit_uses for select to sharedraft_backup using (true);

alter table loan_payments enable row level security, force row level security;
create policy institution on loan_payments using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on loan_payments for select to sharedraft_backup using (true);

alter table loans enable row level security, force row level security;
create policy institution on loans using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on loans for select to sharedraft_backup using (true);

alter table logout_notices enable row level security, force row level security;
create policy institution on logout_notices using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on logout_notices for select to sharedraft_backup using (true);

alter table mail_senders enable row level security, force row level security;
create policy institution on mail_senders using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on mail_senders for select to sharedraft_backup using (true);

alter table mail_suppressions enable row level security, force row level security;
create policy institution on mail_suppressions using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on mail_suppressions for select to sharedraft_backup using (true);

alter table member_sessions enable row level security, force row level security;
create policy institution on member_sessions using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on member_sessions for select to sharedraft_backup using (true);

alter table opening_counters enable row level security, force row level security;
create policy institution on opening_counters using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on opening_counters for select to sharedraft_backup using (true);

alter table openings enable row level security, force row level security;
create policy institution on openings using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on openings for select to sharedraft_backup using (true);

alter table operator_device_requests enable row level security, force row level security;
create policy institution on operator_device_requests using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on operator_device_requests for select to sharedraft_backup using (true);

alter table operator_invitations enable row level security, force row level security;
create policy institution on operator_invitations using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on operator_invitations for select to sharedraft_backup using (true);

alter table operator_passkeys enable row level security, force row level security;
create policy institution on operator_passkeys using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on operator_passkeys for select to sharedraft_backup using (true);

alter table operator_provider_groups enable row level security, force row level security;
create policy institution on operator_provider_groups using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on operator_provider_groups for select to sharedraft_backup using (true);

alter table operator_providers enable row level security, force row level security;
create policy institution on operator_providers using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on operator_providers for select to sharedraft_backup using (true);

alter table operator_sessions enable row level security, force row level security;
create policy institution on operator_sessions using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on operator_sessions for select to sharedraft_backup using (true);

alter table operators enable row level security, force row level security;
create policy institution on operators using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on operators for select to sharedraft_backup using (true);

alter table outbox enable row level security, force row level security;
create policy institution on outbox using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on outbox for select to sharedraft_backup using (true);

alter table outbox_1 enable row level security, force row level security;
create policy institution on outbox_1 using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on outbox_1 for select to sharedraft_backup using (true);

alter table outbox_1000001 enable row level security, force row level security;
create policy institution on outbox_1000001 using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on outbox_1000001 for select to sharedraft_backup using (true);

alter table outbox_default enable row level security, force row level security;
create policy institution on outbox_default using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on outbox_default for select to sharedraft_backup using (true);

alter table passkey_challenges enable row level security, force row level security;
create policy institution on passkey_challenges using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on passkey_challenges for select to sharedraft_backup using (true);

alter table passkeys enable row level security, force row level security;
create policy institution on passkeys using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on passkeys for select to sharedraft_backup using (true);

alter table pending_transfers enable row level security, force row level security;
create policy institution on pending_transfers using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on pending_transfers for select to sharedraft_backup using (true);

alter table persons enable row level security, force row level security;
create policy institution on persons using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on persons for select to sharedraft_backup using (true);

alter table proposals enable row level security, force row level security;
create policy institution on proposals using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on proposals for select to sharedraft_backup using (true);

alter table provider_assertion_replays enable row level security, force row level security;
create policy institution on provider_assertion_replays using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on provider_assertion_replays for select to sharedraft_backup using (true);

alter table reconcile_findings enable row level security, force row level security;
create policy institution on reconcile_findings using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on reconcile_findings for select to sharedraft_backup using (true);

alter table reconcile_results enable row level security, force row level security;
create policy institution on reconcile_results using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on reconcile_results for select to sharedraft_backup using (true);

alter table reconcile_runs enable row level security, force row level security;
create policy institution on reconcile_runs using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on reconcile_runs for select to sharedraft_backup using (true);

alter table recovery_codes enable row level security, force row level security;
create policy institution on recovery_codes using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on recovery_codes for select to sharedraft_backup using (true);

alter table refresh_families enable row level security, force row level security;
create policy institution on refresh_families using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on refresh_families for select to sharedraft_backup using (true);

alter table registration_tries enable row level security, force row level security;
create policy institution on registration_tries using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on registration_tries for select to sharedraft_backup using (true);

alter table revocations enable row level security, force row level security;
create policy institution on revocations using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on revocations for select to sharedraft_backup using (true);

alter table screening_hooks enable row level security, force row level security;
create policy institution on screening_hooks using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on screening_hooks for select to sharedraft_backup using (true);

alter table staged_accounts enable row level security, force row level security;
create policy institution on staged_accounts using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on staged_accounts for select to sharedraft_backup using (true);

alter table staged_core_balances enable row level security, force row level security;
create policy institution on staged_core_balances using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on staged_core_balances for select to sharedraft_backup using (true);

alter table staged_core_postings enable row level security, force row level security;
create policy institution on staged_core_postings using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on staged_core_postings for select to sharedraft_backup using (true);

alter table staged_holders enable row level security, force row level security;
create policy institution on staged_holders using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on staged_holders for select to sharedraft_backup using (true);

alter table staged_member_persons enable row level security, force row level security;
create policy institution on staged_member_persons using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on staged_member_persons for select to sharedraft_backup using (true);

alter table staged_members enable row level security, force row level security;
create policy institution on staged_members using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on staged_members for select to sharedraft_backup using (true);

alter table staged_persons enable row level security, force row level security;
create policy institution on staged_persons using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on staged_persons for select to sharedraft_backup using (true);

alter table staged_rejects enable row level security, force row level security;
create policy institution on staged_rejects using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on staged_rejects for select to sharedraft_backup using (true);

alter table transfer_approvals enable row level security, force row level security;
create policy institution on transfer_approvals using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on transfer_approvals for select to sharedraft_backup using (true);

alter table transfer_consents enable row level security, force row level security;
create policy institution on transfer_consents using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on transfer_consents for select to sharedraft_backup using (true);

alter table transfer_id_prefixes enable row level security, force row level security;
create policy institution on transfer_id_prefixes using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on transfer_id_prefixes for select to sharedraft_backup using (true);

alter table transfer_limits enable row level security, force row level security;
create policy institution on transfer_limits using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on transfer_limits for select to sharedraft_backup using (true);

alter table transfer_policies enable row level security, force row level security;
create policy institution on transfer_policies using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on transfer_policies for select to sharedraft_backup using (true);

alter table transfer_screenings enable row level security, force row level security;
create policy institution on transfer_screenings using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on transfer_screenings for select to sharedraft_backup using (true);

alter table transfer_sign_ins enable row level security, force row level security;
create policy institution on transfer_sign_ins using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on transfer_sign_ins for select to sharedraft_backup using (true);

alter table transfers enable row level security, force row level security;
create policy institution on transfers using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on transfers for select to sharedraft_backup using (true);

alter table user_devices enable row level security, force row level security;
create policy institution on user_devices using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on user_devices for select to sharedraft_backup using (true);

alter table user_phones enable row level security, force row level security;
create policy institution on user_phones using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on user_phones for select to sharedraft_backup using (true);

alter table users enable row level security, force row level security;
create policy institution on users using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on users for select to sharedraft_backup using (true);

alter table webhook_attempts enable row level security, force row level security;
create policy institution on webhook_attempts using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on webhook_attempts for select to sharedraft_backup using (true);

alter table webhook_deliveries enable row level security, force row level security;
create policy institution on webhook_deliveries using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on webhook_deliveries for select to sharedraft_backup using (true);

alter table webhook_endpoints enable row level security, force row level security;
create policy institution on webhook_endpoints using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on webhook_endpoints for select to sharedraft_backup using (true);

alter table webhook_keys enable row level security, force row level security;
create policy institution on webhook_keys using ((institution_id = ( SELECT (current_setting('sharedraft.institution'::text))::integer AS current_setting)));
create policy backup on webhook_keys for select to sharedraft_backup using (true);

-- ---------------------------------------------------------------------------------------------------------
-- Rights

grant select on all tables in schema public to sharedraft_backup;
grant select on all sequences in schema public to sharedraft_backup;

grant usage on sequence accounts_account_key_seq to sharedraft_service;
grant usage on sequence alerts_alert_key_seq to sharedraft_service;
grant usage on sequence customers_customer_key_seq to sharedraft_service;
grant usage on sequence institutions_institution_id_seq to sharedraft_service;
grant usage on sequence outbox_event_key_seq to sharedraft_service;
grant usage on sequence persons_person_key_seq to sharedraft_service;
grant usage on sequence posting_keys to sharedraft_service;
grant usage on sequence provider_generations to sharedraft_service;
grant usage on sequence users_user_key_seq to sharedraft_service;
grant insert (institution_id, epoch, kind, subject_key, from_key, from_seq, to_key, to_seq, data, secret, secret_expires_at, recorded_at), select, update (secret, secret_expires_at) on outbox to sharedraft_service;
grant insert, select, update (account_number, description, closed, delinquent, transfer_restriction, overdraft_limit, credit_limit, operator_restriction, closed_by_operator) on accounts to sharedraft_service;
grant delete, insert, select, update on activations to sharedraft_service;
grant insert, select, update on alert_positions to sharedraft_service;
grant delete, insert, select, update on alert_preferences to sharedraft_service;
grant delete, insert, select, update on alert_rules to sharedraft_service;
grant delete, insert, select, update (released_at, read_at) on alerts to sharedraft_service;
grant insert, select on audit_anchors to sharedraft_service;
grant select on audit_chains to sharedraft_service;
grant insert (institution_id, recorded_at, action, outcome, reason, client_id, user_id, subject, name_hash, address, operator, operator_host, sudo_user, operator_as, before_change, after_change, transaction_id, times, stated_reason, personal, operator_id, break_glass), select on audit_entries to sharedraft_service;
grant insert, select, update (sealed_private_key) on audit_keys to sharedraft_service;
grant insert, select, update on audit_retention to sharedraft_service;
grant delete, insert, select, update (sealed_secret, last_step, last_used_at) on authenticators to sharedraft_service;
grant delete, insert, select, update (exchanged_at) on authorization_grants to sharedraft_service;
grant insert, select, update (posted, debits_pending, credits_pending, seq, last_at, closed) on balances to sharedraft_service;
grant delete, insert, select, update on business_days to sharedraft_service;
grant select, update (compared_timeline) on cell to sharedraft_service;
grant delete, select on cell_keys to sharedraft_service;
grant delete, insert, select on client_assertion_replays to sharedraft_service;
grant delete, insert, select on client_certificates to sharedraft_service;
grant insert, select on client_directory to sharedraft_service;
grant delete, insert, select on client_keys to sharedraft_service;
grant delete, insert, select, update (expires_at) on client_secrets to sharedraft_service;
grant insert, select, update (name, scopes, grants, token_lifetime_seconds, networks, active, introspects_all, registration_refusals, allows_token_endpoint_audience, redirect_uris, logout_uris, is_public, is_first_party, requires_dpop, security_profile, backchannel_logout_uri, binds_to_certificate) on clients to sharedraft_service;
grant delete, insert, select, update (may_pay) on consent_accounts to sharedraft_service;
grant insert, select, update (scopes, ended_at, ended_by, all_accounts) on consents to sharedraft_service;
grant delete, insert, select, update on contribution_limits to sharedraft_service;
grant insert, select, update (posting_key, held, authorized_amount, description, merchant, category, changed_at, expires_at, ended) on core_authorizations to sharedraft_service;
grant insert (institution_id, break_key, noted_at, author, note), select on core_break_notes to sharedraft_service;
grant insert (institution_id, class, subject, account_id, account_key, account_seq, core_id, transfer_key, currency, difference, as_of, opened_at), select, update (class, account_seq, difference, as_of, owner, closed_at, closed_by, adjusted_seq) on core_breaks to sharedraft_service;
grant insert, select, update (compared_at, accounts, in_flight, differing) on core_comparisons to sharedraft_service;
grant insert, select, update (heard_at, heard_client) on core_connections to sharedraft_service;
grant insert, select, update (state, delivered_at, leased_by, lease_until, file_number, decided_at, core_reference, refusal_code, refusal_reason, decided_by, decided_operator, decided_request) on core_instructions to sharedraft_service;
grant insert, select, update on core_record_versions to sharedraft_service;
grant insert, select on core_transactions to sharedraft_service;
grant delete, insert, select, update (role) on customer_persons to sharedraft_service;
grant insert, select on customers to sharedraft_service;
grant delete, insert, select on dpop_proofs to sharedraft_service;
grant delete, insert, select, update on email_codes to sharedraft_service;
grant insert, select on entries to sharedraft_service;
grant select on event_archived_entries to sharedraft_service;
grant insert, select on event_epochs to sharedraft_service;
grant select on event_horizons to sharedraft_service;
grant insert, select on event_marks to sharedraft_service;
grant select on event_partitions to sharedraft_service;
grant select on event_timeline to sharedraft_service;
grant insert, select, update on hashing_key to sharedraft_service;
grant delete, insert, select, update (role, may_pay) on holders to sharedraft_service;
grant insert, select on idempotency_keys to sharedraft_service;
grant delete, insert, select, update (keys, subject_from, user_id_type, scopes, resource_tokens, token_type, active, tokens_ended_at, generation) on identity_providers to sharedraft_service;
grant delete, insert, select on import_runs to sharedraft_service;
grant insert, select, update (name, time_zone, clock_ahead_seconds, enrollment, registration_birth_date, openings_per_day, opening_deposit_minor, opening_deposits_per_day, password_min_length, contact_change_max_age, transfer_step_up_max_age, transfer_step_up_above, transfer_step_up_new_destination, transfer_step_up_passkey, transfer_step_up_from, host, brand_color, logo, logo_hash) on institutions to sharedraft_service;
grant insert, select, update (amount, transfers, max_amount, max_transfers, reviewed, review_above) on limit_counters to sharedraft_service;
grant insert, select on limit_keys to sharedraft_service;
grant delete, insert, select on limit_uses to sharedraft_service;
grant insert, select on loan_payments to sharedraft_service;
grant insert, select, update (accrued_interest, fees_due, amount_due, next_due_on) on loans to sharedraft_service;
grant delete, insert, select, update (attempts, due_at) on logout_notices to sharedraft_service;
grant delete, insert, select, update on mail_senders to sharedraft_service;
grant delete, insert, select on mail_suppressions to sharedraft_service;
grant delete, insert, select, update (authenticated_at, last_used_at, ended_at) on member_sessions to sharedraft_service;
grant select on opening_counters to sharedraft_service;
grant insert, select, update (deposited_on) on openings to sharedraft_service;
grant delete, insert, select, update (interval_seconds, last_polled_at, operator_id, is_approved, method, authenticated_at, session_id) on operator_device_requests to sharedraft_service;
grant delete, insert, select, update (selector, secret_hash, failed_tries, expires_at) on operator_invitations to sharedraft_service;
grant delete, insert, select, update (sign_count, last_used_at) on operator_passkeys to sharedraft_service;
grant delete, insert, select on operator_provider_groups to sharedraft_service;
grant delete, insert, select, update (issuer, client_id, sealed_secret, scope, group_claim, may_be_inside) on operator_providers to sharedraft_service;
grant delete, insert, select, update (last_used_at, ended_at) on operator_sessions to sharedraft_service;
grant insert (email, provider_issuer), insert, select, update (roles, status) on operators to sharedraft_service;
grant delete, insert, select on passkey_challenges to sharedraft_service;
grant delete, insert, select, update (sign_count, last_used_at) on passkeys to sharedraft_service;
grant delete, insert, select, update (held_for, due_at, when_due) on pending_transfers to sharedraft_service;
grant insert, select, update (first_name, last_name, email, phone_number, phone_type, birth_date, self_declared, erased_at) on persons to sharedraft_service;
grant insert (institution_id, kind, subject, proposed_by, proposed_sudo, proposed_at, expires_at, account_id, currency, amount), select, update (confirmed_by, confirmed_sudo, confirmed_at) on proposals to sharedraft_service;
grant delete, insert, select on provider_assertion_replays to sharedraft_service;
grant delete, insert, select on provider_directory to sharedraft_service;
grant insert, select on reconcile_findings to sharedraft_service;
grant delete, insert, select on reconcile_results to sharedraft_service;
grant insert, select, update (started_at, finished_at, findings, full_at, checkpoint_at, checkpoint_epoch, checkpoint_xid, run_key) on reconcile_runs to sharedraft_service;
grant delete, insert, select on recovery_codes to sharedraft_service;
grant delete, insert, select, update (generation, token_hash, rotated_at, idle_until, revoked_at, used_at) on refresh_families to sharedraft_service;
grant delete, insert, select, update on registration_tries to sharedraft_service;
grant delete, insert, select on revocations to sharedraft_service;
grant select on schema_functions to sharedraft_service;
grant select on schema_migrations to sharedraft_service;
grant delete, insert, select, update on screening_hooks to sharedraft_service;
grant delete, insert, select, update (sealed_private_key) on signing_keys to sharedraft_service;
grant delete, insert, select on staged_accounts to sharedraft_service;
grant delete, insert, select on staged_core_balances to sharedraft_service;
grant delete, insert, select on staged_core_postings to sharedraft_service;
grant delete, insert, select on staged_holders to sharedraft_service;
grant delete, insert, select on staged_member_persons to sharedraft_service;
grant delete, insert, select on staged_members to sharedraft_service;
grant delete, insert, select on staged_persons to sharedraft_service;
grant delete, insert, select on staged_rejects to sharedraft_service;
grant insert, select on transfer_approvals to sharedraft_service;
grant insert, select on transfer_consents to sharedraft_service;
grant delete, insert, select on transfer_id_prefixes to sharedraft_service;
grant delete, insert, select, update on transfer_limits to sharedraft_service;
grant delete, insert, select, update on transfer_policies to sharedraft_service;
grant insert, select on transfer_screenings to sharedraft_service;
grant insert, select on transfer_sign_ins to sharedraft_service;
grant insert, select, update (status, failure_code, failure_detail, operator, settled_at) on transfers to sharedraft_service;
grant delete, insert, select, update (last_seen_at, kind, client_id, name) on user_devices to sharedraft_service;
grant delete, insert, select, update (phone_number) on user_phones to sharedraft_service;
grant insert, select, update (email, verified_email, email_verified_by, username, password_hash, failed_logins, locked_until, locked_by_operator, active, token_epoch, tokens_ended_at) on users to sharedraft_service;
grant delete, insert, select on webhook_attempts to sharedraft_service;
grant delete, insert, select, update on webhook_deliveries to sharedraft_service;
grant delete, insert, select, update on webhook_endpoints to sharedraft_service;
grant delete, insert, select, update (sealed_secret, sealed_private_key, expires_at) on webhook_keys to sharedraft_service;
