-- CORE means that the core's record has this address. An address that a code confirmed belongs to one user, also if the core
-- has it on another member's record: otherwise either user could make the other's address ambiguous.
create or replace function check_verified_email() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
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
$$;
