-- The rules of double entry, once for all rows of a statement. Look-ups stand in "lateral (… offset 0)" and sequential scans are
-- off: one index probe a row, even if the plan was cached while the table had no statistics.
create or replace function check_entries() returns trigger
language plpgsql security definer
set enable_seqscan = off
set search_path = pg_catalog, public, pg_temp
as $$
declare
  unbalanced boolean;
  broken boolean;
  unbounded boolean;
  unordered boolean;
  control numeric;
begin
  -- A flag is true if its rule is broken:
  -- unbalanced: the amounts of a posting sum to zero; both sides have one currency, and accounts whose balance includes the
  --   entry; pending debits on one side equal pending credits on the other.
  -- broken: an entry continues the one before it and is not older; pending amounts change as its kind says.
  -- unbounded: an entry that lowers a deposit account's available balance carries a floor.
  -- unordered: an opening, an adjustment or an act of the core is between a member's account and one of the institution's own.
  select bool_or(x.unbalanced), bool_or(x.broken), bool_or(x.unbounded), bool_or(x.unordered), sum(x.control)
  into unbalanced, broken, unbounded, unordered, control
  from (
    select sum(e.amount) <> 0 or count(*) % 2 <> 0 or count(e.currency) <> count(*)
             or min(e.currency) <> max(e.currency) or sum(e.debits_pending) <> sum(e.credits_pending) as unbalanced,
           bool_or(
             e.posted <> e.amount or not e.follows
             or not case e.act
                  when 'TRANSFER' then
                    (e.debits_pending = 0 and e.credits_pending = 0)
                    or (e.debits_pending = least(e.amount, 0) and e.credits_pending = least(-e.amount, 0))
                  when 'HOLD' then e.debits_pending >= 0 and e.credits_pending >= 0
                    and (e.debits_pending > 0) <> (e.credits_pending > 0)
                  when 'RELEASE' then e.debits_pending <= 0 and e.credits_pending <= 0
                    and (e.debits_pending < 0) <> (e.credits_pending < 0)
                  else e.debits_pending = 0 and e.credits_pending = 0
                end) as broken,
           -- Reads the account in few cases: a reversal raises a debt again, without a floor.
           bool_or(case when e.kind in ('TRANSFER', 'HOLD') and e.floor is null and e.posted < e.debits_pending then
             (select a.category not in ('LOAN', 'CREDIT') from accounts a
              where a.institution_id = e.institution_id and a.account_key = e.account_key) end) as unbounded,
           bool_or(e.own is not null) and (count(*) <> 2 or count(*) filter (where e.own) <> 1) as unordered,
           sum(case e.kind
                 when 'TRANSFER' then control_number(
                   case when e.debits_pending = 0 and e.credits_pending = 0 then e.kind else 'SETTLEMENT' end,
                   e.posting_key, e.account_key, e.amount)
                 when 'CORE' then control_number(e.kind, e.posting_key, e.account_key, e.amount)
                 when 'OPENING' then null
                 when 'ADJUSTMENT' then null
                 else control_number(e.kind, e.posting_key, e.account_key, e.credits_pending - e.debits_pending)
               end) as control
    from (
      select e.institution_id, e.account_key, e.posting_key, e.kind, e.amount, e.floor, b.currency,
             e.posted_after - coalesce(p.posted_after, 0) as posted,
             e.debits_pending_after - coalesce(p.debits_pending_after, 0) as debits_pending,
             e.credits_pending_after - coalesce(p.credits_pending_after, 0) as credits_pending,
             case e.kind when 'CORE_HOLD' then 'HOLD' when 'CORE_RELEASE' then 'RELEASE' else e.kind end as act,
             case when e.kind not in ('TRANSFER', 'HOLD', 'RELEASE') then
               (select a.purpose is not null from accounts a
                where a.institution_id = e.institution_id and a.account_key = e.account_key) end as own,
             case when e.seq = 1 then p.seq is null else coalesce(p.recorded_at <= e.recorded_at, false) end as follows
      from written e
      left join lateral (
        select b.currency from balances b
        where b.institution_id = e.institution_id and b.account_key = e.account_key and b.seq >= e.seq
        offset 0
      ) b on true
      left join lateral (
        select p.seq, p.posted_after, p.debits_pending_after, p.credits_pending_after, p.recorded_at from entries p
        where p.institution_id = e.institution_id and p.account_key = e.account_key and p.seq = e.seq - 1
        offset 0
      ) p on true
    ) e
    group by e.institution_id, e.posting_key
  ) x;
  if unbalanced then
    raise exception 'ledger: the entries of a posting must sum to zero in one currency, on accounts that exist'
      using errcode = 'SD001';
  end if;
  if broken then
    raise exception 'ledger: an entry does not continue the one before it' using errcode = 'SD002';
  end if;
  if unbounded then
    raise exception 'ledger: a debit of a deposit account carries no floor' using errcode = 'SD018';
  end if;
  if unordered then
    raise exception 'ledger: an opening, an adjustment or an act of the core needs an account of the institution as its other side'
      using errcode = 'SD019';
  end if;
  perform add_to_control_total(control);
  return null;
end
$$;

revoke execute on function check_entries() from public;
