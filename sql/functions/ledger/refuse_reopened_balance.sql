create or replace function refuse_reopened_balance() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  raise exception 'ledger: a closed balance stays closed' using errcode = 'SD025';
end
$$;
