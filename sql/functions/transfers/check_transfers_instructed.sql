-- Where the core keeps the books, no money moves without an instruction to it. One exception: the reversal of a transfer that the core
-- has refused. Other institutions pay one look-up a statement.
create or replace function check_transfers_instructed() returns trigger
language plpgsql
set enable_seqscan = off
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if not exists (
    select from institutions i
    where i.institution_id = (select w.institution_id from written w limit 1) and i.record = 'core'
  ) then
    return null;
  end if;
  if exists (
    select from written t
    left join lateral (
      select i.mode from core_instructions i
      where i.institution_id = t.institution_id and i.instruction_key = t.transfer_key
      offset 0
    ) i on true
    left join lateral (
      select i.state from core_instructions i
      where i.institution_id = t.institution_id and i.instruction_key = t.reverses_key
      offset 0
    ) o on true
    where t.status = 'COMPLETED' and coalesce(i.mode, 'WAIT') = 'WAIT' and o.state is distinct from 'REJECTED'
       or o.state = 'OPEN'
  ) then
    raise exception 'transfers: a transfer completes without the core' using errcode = 'SD073';
  end if;
  return null;
end
$$;
