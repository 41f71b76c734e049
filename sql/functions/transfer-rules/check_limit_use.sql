-- A use belongs to a transfer that is pending, or to a completed IRA contribution (limit 0).
create or replace function check_limit_use() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
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
$$;
