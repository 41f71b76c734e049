-- The breaks that need no comparison and are not open yet. It runs with the caller's rights.
--
-- late       a delivered instruction without an outcome after core_wait_seconds
-- refused    a reversal that the core has refused: both of its sides
-- below      the account that had to return a transfer that the core has refused, while it is below its floor
--
-- Refusals are looked for thirty days back, so that one is found that was decided while no process looked. Each has one break, ever.
create or replace function core_breaks_to_open(of_institution integer, at_time timestamptz)
returns table (class text, subject text, account_id text, account_key bigint, transfer_key bigint, currency text,
               difference_minor bigint, transfer_id text, refusal_code text, refusal_reason text, since timestamptz)
language sql stable
set search_path = pg_catalog, public, pg_temp
as $$
  with late as (
    select 'TIMING' as class, 'instruction:' || t.transfer_id as subject, t.from_account_id as account_id, i.from_key as account_key,
           i.instruction_key as transfer_key, i.currency, 0::bigint as difference_minor, t.transfer_id, null as refusal_code,
           null as refusal_reason, i.delivered_at as since
    from core_instructions i
    cross join lateral (
      select t.transfer_id, t.transfer_type, t.from_account_id from transfers t
      where t.institution_id = of_institution and t.transfer_key = i.instruction_key offset 0
    ) t
    where i.institution_id = of_institution and i.state = 'OPEN' and i.delivered_at is not null
      and i.delivered_at < at_time - make_interval(secs => coalesce((
        select p.core_wait_seconds from transfer_policies p
        where p.institution_id = of_institution and p.transfer_type = t.transfer_type and p.currency = i.currency), 86400))
  ), refusals as materialized (
    select i.instruction_key, i.currency, i.refusal_code, i.refusal_reason, i.decided_at, i.from_key, i.to_key, i.amount,
           t.transfer_id, t.from_account_id, t.to_account_id, t.reverses_key is not null as is_reversal
    from core_instructions i
    cross join lateral (
      select t.transfer_id, t.from_account_id, t.to_account_id, t.reverses_key from transfers t
      where t.institution_id = of_institution and t.transfer_key = i.instruction_key offset 0
    ) t
    where i.institution_id = of_institution and i.state = 'REJECTED' and i.mode <> 'WAIT' and i.decided_at > at_time - interval '30 days'
  ), refused as (
    select 'REVERSAL_REJECTED', 'reversal:' || r.transfer_id || ':' || side.account_id, side.account_id, side.account_key,
           r.instruction_key, r.currency, side.difference, r.transfer_id, r.refusal_code, r.refusal_reason, r.decided_at
    from refusals r
    cross join lateral (values (r.from_account_id, r.from_key, r.amount), (r.to_account_id, r.to_key, -r.amount))
      as side (account_id, account_key, difference)
    where r.is_reversal
  ), below as (
    select 'BELOW_FLOOR', 'floor:' || r.transfer_id, r.to_account_id, r.to_key, r.instruction_key, r.currency, 0::bigint,
           r.transfer_id, r.refusal_code, r.refusal_reason, r.decided_at
    from refusals r
    join balances b on b.institution_id = of_institution and b.account_key = r.to_key
    join accounts a on a.institution_id = of_institution and a.account_key = r.to_key
    where not r.is_reversal and a.category = 'DEPOSIT' and b.posted - b.debits_pending < -a.overdraft_limit
  ), found as (
    select * from late union all select * from refused union all select * from below
  )
  select * from found f
  where not exists (select from core_breaks b where b.institution_id = of_institution and b.subject = f.subject)
  limit 1000
$$;

revoke execute on function core_breaks_to_open(integer, timestamptz) from public;
grant execute on function core_breaks_to_open(integer, timestamptz) to sharedraft_service;
