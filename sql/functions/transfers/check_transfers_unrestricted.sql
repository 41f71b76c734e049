-- No new transfer moves or holds money against an operator's restriction. A reversal may: the institution takes back what it paid in
-- error. Institutions without a restricted account pay one look-up a statement.
create or replace function check_transfers_unrestricted() returns trigger
language plpgsql
set enable_seqscan = off
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if not exists (
    select from accounts a
    where a.institution_id = (select w.institution_id from written w limit 1) and a.operator_restriction is not null
  ) then
    return null;
  end if;
  if exists (
    select from written t
    cross join lateral (
      select from accounts a
      where a.institution_id = t.institution_id and a.operator_restriction is not null
        and (a.account_key = t.from_key and a.operator_restriction <> 'EXCLUDE_AS_TO'
             or a.account_key = t.to_key and a.operator_restriction <> 'EXCLUDE_AS_FROM')
        and a.account_key in (t.from_key, t.to_key)
      offset 0
    ) a
    where t.status <> 'FAILED' and t.reverses_key is null
  ) then
    raise exception 'transfers: an operator has restricted an account of the transfer' using errcode = 'SD026';
  end if;
  return null;
end
$$;
