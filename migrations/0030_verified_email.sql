-- An e-mail address identifies a user only when it is verified: it is the core's record, or a code sent to it came back.
-- An address that a member only typed is contact data. Otherwise a member could take the address of another.

alter table persons
  -- Typed by the member who opened the membership on the spot; the core never confirmed it.
  add column self_declared boolean not null default false;

alter table users
  add column verified_email text check (verified_email <> ''),
  add column email_verified_by text check (email_verified_by in ('CORE', 'CODE')),
  add column verified_email_lower text generated always as (lower(verified_email)) stored,
  add constraint users_email_verified check ((verified_email is null) = (email_verified_by is null));

-- The owner sees all institutions for the time of the next two statements.
alter table persons no force row level security;
alter table users no force row level security;
-- Open enrollment numbers persons by UUIDv7. A core that does so too loses nothing but look-ups until a code confirms.
update persons p set self_declared = true
from institutions i
where i.institution_id = p.institution_id and i.enrollment = 'open'
  and p.person_id ~ '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$';
update users u set verified_email = u.email, email_verified_by = 'CORE'
from persons p
where p.institution_id = u.institution_id and p.person_key = u.person_key and not p.self_declared
  and lower(p.email collate "C") = lower(u.email collate "C");
alter table persons force row level security;
alter table users force row level security;

create index users_by_verified_email on users (institution_id, verified_email_lower);
create unique index users_email_confirmed_once on users (institution_id, verified_email_lower)
  where email_verified_by = 'CODE';
drop index users_by_email;
alter table users drop column email_lower;

-- The second wall: CORE is what the core says, and no code takes an address that another user is found by.
create function check_verified_email() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  if new.email_verified_by = 'CORE' and not exists (
    select from persons p
    where p.institution_id = new.institution_id and p.person_key = new.person_key and not p.self_declared
      and lower(p.email collate "C") = lower(new.verified_email collate "C")
  ) then
    raise exception 'members: the core has another e-mail address' using errcode = 'SD040';
  end if;
  if new.email_verified_by = 'CODE' and exists (
    select from users o
    where o.institution_id = new.institution_id and o.verified_email_lower = new.verified_email_lower
      and o.user_key <> new.user_key
  ) then
    raise exception 'members: another user is found by this e-mail address' using errcode = 'SD041';
  end if;
  return null;
end
$$;

create trigger users_email_verified after insert or update of verified_email, email_verified_by on users
  for each row when (new.verified_email is not null) execute function check_verified_email();

create table email_codes (
  institution_id  integer not null,
  user_key        bigint not null,
  -- The first part of the code finds the row, only the hash of the second is kept.
  selector        text collate "C" not null,
  secret_hash     bytea not null check (length(secret_hash) = 32),
  -- The address that the code was made for; it confirms no other.
  email           text not null check (email <> ''),
  failed_tries    smallint not null default 0 check (failed_tries between 0 and 5),
  expires_at      timestamptz not null,
  primary key (institution_id, user_key),
  unique (institution_id, selector),
  foreign key (institution_id, user_key) references users
);
alter table email_codes enable row level security;
alter table email_codes force row level security;
create policy institution on email_codes
  using (institution_id = (select current_setting('sharedraft.institution')::integer));

alter table institutions
  -- Seconds since a member last proved who they are, at most, for a change of contact; 0: any session may.
  add column contact_change_max_age integer not null default 0 check (contact_change_max_age between 0 and 2592000),
  -- Where the core has no e-mail address, the birth date must be given and right.
  add column registration_birth_date boolean not null default false;

grant select, insert, update, delete on email_codes to sharedraft_service;
grant update (verified_email, email_verified_by) on users to sharedraft_service;
grant update (contact_change_max_age, registration_birth_date) on institutions to sharedraft_service;
