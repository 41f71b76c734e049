-- Names and addresses without regard to case, in columns: row-level security keeps an index on lower() from being searched. The tables are
-- rewritten, which takes some seconds with a million members.
drop index persons_by_name;
drop index persons_by_email;
drop index users_by_email;

alter table persons
  add column first_name_lower text collate "C" not null generated always as (lower(first_name)) stored,
  add column last_name_lower text collate "C" not null generated always as (lower(last_name)) stored,
  add column email_lower text collate "C" generated always as (lower(email)) stored;
alter table users
  add column email_lower text collate "C" generated always as (lower(email)) stored;

create index persons_by_name on persons (institution_id, last_name_lower, first_name_lower, person_key);
create index persons_by_email on persons (institution_id, email_lower) where email_lower is not null;
create index users_by_email on users (institution_id, email_lower);

-- Sessions at the service's own pages, by member.
create index member_sessions_by_user on member_sessions (institution_id, user_key);
