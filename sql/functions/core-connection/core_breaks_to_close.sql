-- The open breaks whose reason is over. It runs with the caller's rights.
--
-- An account's difference has arrived if the core's postings of before the moment that came since then add up to it. The echo with the
-- right amount ends the break of a wrong one.
create or replace function core_breaks_to_close(of_institution integer)
returns table (break_key bigint, closed_by text, detail text)
language sql stable
set search_path = pg_catalog, public, pg_temp
as $$
  select b.break_key, e.closed_by, e.detail
  from core_breaks b
  cross join lateral (
    select 'DECIDED' as closed_by, lower(i.state) as detail from core_instructions i
    where b.class = 'TIMING' and b.transfer_key is not null
      and i.institution_id = of_institution and i.instruction_key = b.transfer_key and i.state <> 'OPEN'
    union all
    select 'ARRIVED', c.core_id from core_transactions c
    where b.class in ('MISSING_HERE', 'UNKNOWN_ACCOUNT') and c.institution_id = of_institution and c.core_id = b.core_id
    union all
    select 'ARRIVED', null
    where b.core_id is null and b.transfer_key is null and b.account_seq is not null and b.difference <> 0 and b.difference = (
      select sum(c.amount) from core_transactions c
      where c.institution_id = of_institution and c.account_key = b.account_key and c.seq > b.account_seq and c.settlement_key is not null
        and c.posted_at <= b.as_of)
    union all
    select 'ARRIVED', c.core_id from core_transactions c
    where b.class = 'AMOUNT_MISMATCH' and c.institution_id = of_institution and c.account_key = b.account_key
      and c.effective_date >= b.opened_at::date - 40 and c.posting_key = b.transfer_key and c.settlement_key is null
    union all
    select 'RECOVERED', null from balances n
    join accounts a on a.institution_id = of_institution and a.account_key = n.account_key
    where b.class = 'BELOW_FLOOR' and n.institution_id = of_institution and n.account_key = b.account_key
      and n.posted - n.debits_pending >= -a.overdraft_limit
  ) e
  where b.institution_id = of_institution and b.closed_at is null
  limit 1000
$$;

revoke execute on function core_breaks_to_close(integer) from public;
grant execute on function core_breaks_to_close(integer) to sharedraft_service;
