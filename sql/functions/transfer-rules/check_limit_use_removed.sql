-- A use is removed when its transfer is final. An IRA contribution can be reversed later, and its use stays.
create or replace function check_limit_use_removed() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
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
$$;
