-- Usernames and e-mail addresses are found by key also behind row-level security: lower() might tell what it is given, so
-- that a condition with it is only looked at row by row, on every user of the institution.

alter table users
  add column username_lower text generated always as (lower(username)) stored,
  add column email_lower text generated always as (lower(email)) stored;

drop index users_by_username;
create unique index users_by_username on users (institution_id, username_lower);
drop index users_by_email;
create index users_by_email on users (institution_id, email_lower);
