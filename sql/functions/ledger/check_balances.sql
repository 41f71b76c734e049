-- A changed balance must equal its account's newest entry, or be zero without one: an account may be closed before its first.
create or replace function check_balances() returns trigger
language plpgsql
set enable_seqscan = off
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if exists (
    select from became b
    left join lateral (
      select e.seq, e.posted_after, e.debits_pending_after, e.credits_pending_after, e.recorded_at from entries e
      where e.institution_id = b.institution_id and e.account_key = b.account_key and e.seq >= b.seq
      order by e.seq desc limit 1
    ) e on true
    where (b.seq, b.posted, b.debits_pending, b.credits_pending, b.last_at) is distinct from
            (coalesce(e.seq, 0), coalesce(e.posted_after, 0), coalesce(e.debits_pending_after, 0),
             coalesce(e.credits_pending_after, 0), coalesce(e.recorded_at, b.last_at))
  ) then
    raise exception 'ledger: a balance differs from its newest entry' using errcode = 'SD003';
  end if;
  return null;
end
$$;
