-- Members: persons and memberships as the core system knows them, and users, who have digital access.

create table persons (
  institution_id  integer not null references institutions,
  person_key      bigint not null generated always as identity,
  person_id       text collate "C" not null check (person_id ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$'),
  first_name      text not null,
  last_name       text not null,
  email           text check (email <> ''),
  phone_number    text check (phone_number ~ '^\+[1-9][0-9]{1,14}$'),
  phone_type      text check (phone_type in ('MOBILE', 'HOME', 'WORK')),
  birth_date      date,
  self_declared   boolean not null default false,
  primary key (institution_id, person_key),
  unique (institution_id, person_id),
  constraint persons_phone check ((phone_number is null) = (phone_type is null))
);

comment on table persons is 'Natural persons on the record of the core system.';
comment on column persons.person_key is 'Key inside the database; never leaves the service.';
comment on column persons.person_id is 'Id in the core system.';
comment on column persons.phone_number is 'E.164.';
comment on column persons.self_declared is
  'The member typed these data when opening a membership; the core has not confirmed them.';

create table customers (
  institution_id  integer not null references institutions,
  customer_key    bigint not null generated always as identity,
  customer_id     text collate "C" not null check (customer_id ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$'),
  member_number   text collate "C" not null check (member_number ~ '^[A-Za-z0-9-]{1,32}$'),
  member_type     text not null check (member_type in ('RETAIL', 'BUSINESS')),
  primary key (institution_id, customer_key),
  unique (institution_id, customer_id),
  unique (institution_id, member_number)
);

comment on table customers is 'Memberships: a household or a business with one member number.';
comment on column customers.customer_id is 'Id in the core system.';
comment on column customers.member_number is 'The number that members know.';

create table customer_persons (
  institution_id  integer not null,
  customer_key    bigint not null,
  person_key      bigint not null,
  role            text not null
                  check (role in ('PRIMARY', 'JOINT', 'AUTHORIZED_SIGNER', 'BUSINESS_ADMIN', 'BUSINESS_USER')),
  primary key (institution_id, customer_key, person_key),
  foreign key (institution_id, customer_key) references customers,
  foreign key (institution_id, person_key) references persons
);
create index customer_persons_by_person on customer_persons (institution_id, person_key);
create unique index customer_persons_one_primary on customer_persons (institution_id, customer_key)
  where role = 'PRIMARY';

comment on table customer_persons is 'The persons of a membership and their roles. One is PRIMARY.';

create table users (
  institution_id        integer not null,
  user_key              bigint not null generated always as identity,
  user_id               text collate "C" not null check (user_id ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$'),
  person_key            bigint not null,
  created_at            timestamptz not null,

  email                 text not null check (email <> ''),
  verified_email        text check (verified_email <> ''),
  email_verified_by     text check (email_verified_by in ('CORE', 'CODE')),

  username              text check (length(username) between 6 and 64 and username !~ '^[0-9]+$'),
  password_hash         text,
  -- NIST SP 800-63B-4, 3.2.2: at most 100 failures in a row, across all locks between them.
  failed_logins         smallint not null default 0 check (failed_logins between 0 and 100),
  locked_until          timestamptz,
  locked_by_operator    boolean not null default false,
  active                boolean not null default true,
  token_epoch           integer not null default 0 check (token_epoch >= 0),
  tokens_ended_at       timestamptz,

  -- Stored, since row-level security keeps an expression with lower() from using an index: lower() is not leakproof.
  username_lower        text generated always as (lower(username)) stored,
  verified_email_lower  text generated always as (lower(verified_email)) stored,

  primary key (institution_id, user_key),
  unique (institution_id, user_id),
  unique (institution_id, person_key),
  foreign key (institution_id, person_key) references persons,
  constraint users_activated check ((username is null) = (password_hash is null)),
  constraint users_email_verified check ((verified_email is null) = (email_verified_by is null))
);
create unique index users_by_username on users (institution_id, username_lower);
create index users_by_verified_email on users (institution_id, verified_email_lower);
create unique index users_email_confirmed_once on users (institution_id, verified_email_lower)
  where email_verified_by = 'CODE';

create trigger users_revoke_tokens before update of active, locked_by_operator on users
  for each row when ((old.active and not new.active) or (not old.locked_by_operator and new.locked_by_operator))
  execute function raise_token_epoch();
create trigger users_provider_tokens before update of active, locked_by_operator, tokens_ended_at on users
  for each row when ((old.active, old.locked_by_operator) is distinct from (new.active, new.locked_by_operator)
                     or old.tokens_ended_at is distinct from new.tokens_ended_at)
  execute function end_provider_tokens();
create trigger users_token_epoch before update of token_epoch on users
  for each row when (new.token_epoch < old.token_epoch) execute function refuse_lower_token_epoch();
create trigger users_expired_password before update of failed_logins on users
  for each row when (old.failed_logins = 100 and new.failed_logins < 100
                     and new.password_hash is not distinct from old.password_hash)
  execute function refuse_failed_login_reset();
create trigger users_email_verified after insert or update of verified_email, email_verified_by on users
  for each row when (new.verified_email is not null) execute function check_verified_email();

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
  phone_type      text not null check (phone_type in ('MOBILE', 'HOME', 'WORK')),
  phone_number    text not null check (phone_number ~ '^\+[1-9][0-9]{1,14}$'),
  primary key (institution_id, user_key, phone_type),
  foreign key (institution_id, user_key) references users
);

comment on table user_phones is 'Contact numbers of users, one of each type, in E.164.';

create table activations (
  institution_id  integer not null,
  user_key        bigint not null,
  selector        text collate "C" not null,
  secret_hash     bytea not null check (length(secret_hash) = 32),
  failed_tries    smallint not null default 0 check (failed_tries between 0 and 5),
  expires_at      timestamptz not null,
  primary key (institution_id, user_key),
  unique (institution_id, selector),
  foreign key (institution_id, user_key) references users
);

comment on table activations is 'Activation codes: the one-time code with which a registered member sets a username and password.';
comment on column activations.selector is 'First part of the code; finds the row.';
comment on column activations.secret_hash is 'Hash of the second part; the code itself is not stored.';

create table email_codes (
  institution_id  integer not null,
  user_key        bigint not null,
  selector        text collate "C" not null,
  secret_hash     bytea not null check (length(secret_hash) = 32),
  email           text not null check (email <> ''),
  failed_tries    smallint not null default 0 check (failed_tries between 0 and 5),
  expires_at      timestamptz not null,
  primary key (institution_id, user_key),
  unique (institution_id, selector),
  foreign key (institution_id, user_key) references users
);

comment on table email_codes is 'One-time codes that verify an e-mail address.';
comment on column email_codes.selector is 'First part of the code; finds the row.';
comment on column email_codes.secret_hash is 'Hash of the second part; the code itself is not stored.';
comment on column email_codes.email is 'The address that the code was sent to; it verifies no other.';

create table registration_tries (
  institution_id  integer not null references institutions,
  member_number   text collate "C" not null check (member_number ~ '^[A-Za-z0-9-]{1,32}$'),
  tries           integer not null check (tries > 0),
  last_at         timestamptz not null,
  paused_until    timestamptz,
  primary key (institution_id, member_number),
  constraint registration_tries_paused check (tries < 20 or paused_until >= last_at + interval '1 minute')
);
create index registration_tries_by_age on registration_tries (institution_id, last_at);

comment on table registration_tries is
  'Failed registrations by member number, known or unknown. The row is deleted when one succeeds.';

select bind_to_institution('persons', 'customers', 'customer_persons', 'users', 'user_phones', 'activations', 'email_codes',
                           'registration_tries');

grant select, insert on persons, customers, customer_persons, users to sharedraft_service;
grant select, insert, update, delete on user_phones, activations, email_codes, registration_tries to sharedraft_service;
grant update (first_name, last_name, email, phone_number, phone_type, birth_date) on persons to sharedraft_service;
grant update (role), delete on customer_persons to sharedraft_service;
grant update (email, verified_email, email_verified_by, username, password_hash, failed_logins, locked_until,
              locked_by_operator, active, token_epoch, tokens_ended_at)
  on users to sharedraft_service;
grant usage on sequence persons_person_key_seq, customers_customer_key_seq, users_user_key_seq to sharedraft_service;
