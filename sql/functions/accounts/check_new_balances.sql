-- A new balance is zero and belongs to an existing account.
create or replace function check_new_balances() returns trigger
language plpgsql
set enable_seqscan = off
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if exists (
    select from written b
    left join lateral (
      select a.account_id, a.currency from accounts a
      where a.institution_id = b.institution_id and a.account_key = b.account_key
      offset 0
    ) a on true
    where b.posted <> 0 or b.debits_pending <> 0 or b.credits_pending <> 0 or b.seq <> 0
       or (a.account_id, a.currency) is distinct from (b.account_id, b.currency)
  ) then
    raise exception 'ledger: a new balance must be zero and belong to an account that exists' using errcode = 'SD004';
  end if;
  return null;
end
$$;
