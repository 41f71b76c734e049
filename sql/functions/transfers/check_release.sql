-- At commit, a RELEASE belongs to a transfer that failed and to one of its accounts.
create or replace function check_release() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
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
$$;
