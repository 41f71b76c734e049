-- A transaction of the core names its entry: one of kind CORE that it orders, or the entry of a completed transfer of which it is
-- the echo. Entries of kind CORE without a row here fail the control total at commit.
create or replace function check_core_transactions() returns trigger
language plpgsql security definer
set enable_seqscan = off
set search_path = pg_catalog, public, pg_temp
as $$
declare
  control numeric;
begin
  if exists (
    select from written c
    left join lateral (
      select e.posting_key, e.amount, e.kind from entries e
      where e.institution_id = c.institution_id and e.account_key = c.account_key and e.seq = c.seq
      offset 0
    ) e on true
    where (e.posting_key, e.amount, e.kind)
          is distinct from (c.posting_key, c.amount, case when c.settlement_key is null then 'TRANSFER' else 'CORE' end)
  ) then
    raise exception 'core: a transaction differs from its entry' using errcode = 'SD060';
  end if;
  select -sum(control_number('CORE', c.posting_key, c.account_key, c.amount)::numeric
              + control_number('CORE', c.posting_key, c.settlement_key, -c.amount))
  into control
  from written c where c.settlement_key is not null;
  perform add_to_control_total(control);
  return null;
end
$$;

revoke execute on function check_core_transactions() from public;
