-- A new balance equals the newest entry of its account, or is zero without one. It belongs to an existing account.
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
    left join lateral (
      select e.seq, e.posted_after, e.debits_pending_after, e.credits_pending_after, e.recorded_at from entries e
      where e.institution_id = b.institution_id and e.account_key = b.account_key and e.seq >= b.seq
      order by e.seq desc limit 1
    ) e on true
    where (b.seq, b.posted, b.debits_pending, b.credits_pending, b.last_at) is distinct from
            (coalesce(e.seq, 0), coalesce(e.posted_after, 0), coalesce(e.debits_pending_after, 0),
             coalesce(e.credits_pending_after, 0), coalesce(e.recorded_at, b.last_at))
       or (a.account_id, a.currency) is distinct from (b.account_id, b.currency)
  ) then
    raise exception 'ledger: a new balance must equal its newest entry and belong to an account that exists'
      using errcode = 'SD004';
  end if;
  return null;
end
$$;
