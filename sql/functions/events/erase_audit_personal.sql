-- Erases the personal fields, with their salts, of the entries about a user or one of the subjects, and returns their number.
create or replace function erase_audit_personal(users text[], subjects text[], at timestamptz) returns bigint
language sql security definer
set search_path = pg_catalog, public, pg_temp
as $$
  with erased as (
    update public.audit_entries e
    set address = null, name_hash = null, stated_reason = null, personal = null, personal_salt = null, erased_at = at
    where e.institution_id = current_setting('sharedraft.institution')::integer
      and (e.user_id = any (users) or e.subject = any (subjects)) and e.erased_at is null
    returning 1)
  select count(*) from erased
$$;

revoke execute on function erase_audit_personal(text[], text[], timestamptz) from public;
grant execute on function erase_audit_personal(text[], text[], timestamptz) to sharedraft_service;
