-- A pending transfer holds its amount on both accounts, by entries of its own. One that waits for the core has its instruction.
create or replace function check_pending_transfers() returns trigger
language plpgsql
set enable_seqscan = off
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if exists (
    select from written p
    left join lateral (
      select t.status, t.amount, t.from_key, t.to_key from transfers t
      where t.institution_id = p.institution_id and t.transfer_key = p.transfer_key
      offset 0
    ) t on true
    left join lateral (
      select e.debits_pending_after - coalesce(before.debits_pending_after, 0) as held
      from entries e
      left join entries before on before.institution_id = e.institution_id and before.account_key = e.account_key
        and before.seq = e.seq - 1
      where e.institution_id = p.institution_id and e.account_key = t.from_key and e.posting_key = p.transfer_key
        and e.kind = 'HOLD'
        and e.seq > (select b.seq - 2000 from balances b
                     where b.institution_id = p.institution_id and b.account_key = t.from_key)
      offset 0
    ) o on true
    where t.status is distinct from 'PENDING' or o.held is distinct from t.amount
  ) then
    raise exception 'transfers: a pending transfer does not hold its amount' using errcode = 'SD006';
  end if;
  if exists (
    select from written p
    where p.held_for = 'CORE' and not exists (
      select from core_instructions i
      where i.institution_id = p.institution_id and i.instruction_key = p.transfer_key and i.mode = 'WAIT'
        and i.state = 'OPEN')
  ) then
    raise exception 'transfers: a transfer waits for the core without an instruction' using errcode = 'SD073';
  end if;
  return null;
end
$$;
