-- An operator closes an account once and for good, where this ledger is its record, and its balance is closed at zero with it.
create or replace function check_account_closed() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if not new.closed_by_operator then
    raise exception 'accounts: an account that an operator closed stays closed' using errcode = 'SD025';
  end if;
  if exists (select from institutions i where i.institution_id = new.institution_id and i.record = 'core') then
    raise exception 'accounts: the core closes the accounts that it keeps' using errcode = 'SD025';
  end if;
  if not exists (
    select from balances b
    where b.institution_id = new.institution_id and b.account_key = new.account_key and b.closed
  ) then
    raise exception 'accounts: an account closes with its balance' using errcode = 'SD025';
  end if;
  return new;
end
$$;
