-- Institutions. Rules of all migrations:
--
-- Each table of one institution leads each of its keys with institution_id and has a row-level policy, which reads the
-- institution from the setting sharedraft.institution: a statement that forgets the institution raises an error.
-- Public ids are text collate "C", so that JavaScript and SQL sort them alike. Money is bigint minor units.
-- No column default and no trigger reads a clock: time comes from the service, which tests can set.
-- The service's role owns nothing, cannot bypass policies, and may change only the columns granted to it. In these files its
-- name is sharedraft_service; a database has a role of its own name (ADR 18).
-- Functions are files in sql/functions; a missing one is created before the migrations, a changed one is replaced after them.

grant select on schema_migrations, schema_functions to sharedraft_service;

create table institutions (
  institution_id            integer primary key generated always as identity,
  code                      text collate "C" not null unique check (code ~ '^[a-z][a-z0-9-]{1,30}$'),
  name                      text not null check (name <> ''),
  currency                  text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  time_zone                 text not null,
  demo                      boolean not null default false,
  clock_ahead_seconds       bigint not null default 0 check (clock_ahead_seconds between 0 and 315576000),
  created_at                timestamptz not null,

  enrollment                text not null check (enrollment in ('closed', 'open')),
  registration_birth_date   boolean not null default false,
  openings_per_day          integer not null default 1000 check (openings_per_day between 0 and 10000000),
  opening_deposit_minor     bigint not null default 0 check (opening_deposit_minor >= 0),
  opening_deposits_per_day  bigint not null default 100000000 check (opening_deposits_per_day >= 0),

  -- NIST SP 800-63B-4: 15 for a single factor, 8 if the institution declares a second one.
  password_min_length       smallint not null default 15 check (password_min_length between 8 and 128),
  contact_change_max_age    integer not null default 0 check (contact_change_max_age between 0 and 2592000),

  constraint institutions_clock check (clock_ahead_seconds = 0 or demo)
);

create trigger institutions_clock_moved before update of clock_ahead_seconds on institutions
  for each row execute function check_sandbox_clock();

comment on table institutions is 'Banks and credit unions that this database serves. Readable without an institution.';
comment on column institutions.code is 'The name of the institution in commands and addresses.';
comment on column institutions.demo is 'A sandbox: typed operator names and a clock that can be moved, no real members.';
comment on column institutions.clock_ahead_seconds is 'How far the business time of a demo is ahead of the clock.';
comment on column institutions.enrollment is 'closed: only members of the core may register. open: registering also opens a membership.';
comment on column institutions.registration_birth_date is 'If the core has no e-mail address of a member, the birth date must be given and right.';
comment on column institutions.openings_per_day is 'Cap on memberships opened in one day of the institution.';
comment on column institutions.opening_deposit_minor is 'Deposit that the funding account pays into a new membership.';
comment on column institutions.opening_deposits_per_day is 'Cap on opening deposits paid in one day, in minor units.';
comment on column institutions.contact_change_max_age is
  'Seconds since the last sign-in within which a member may change contact data. 0: any session may.';

grant select, insert on institutions to sharedraft_service;
grant update (name, time_zone, enrollment, registration_birth_date, openings_per_day, opening_deposit_minor,
              opening_deposits_per_day, password_min_length, contact_change_max_age, clock_ahead_seconds)
  on institutions to sharedraft_service;
grant usage on sequence institutions_institution_id_seq to sharedraft_service;
