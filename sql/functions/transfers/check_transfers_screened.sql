-- Where the institution screens orders, no new transfer moves or holds money without a verdict that lets it. A reversal may: it is an
-- order of the institution. Institutions without a hook pay one look-up a statement.
create or replace function check_transfers_screened() returns trigger
language plpgsql
set enable_seqscan = off
set search_path = pg_catalog, public, pg_temp
as $$
declare
  hook record;
begin
  select h.from_amount, i.currency into hook
  from screening_hooks h
  join institutions i on i.institution_id = h.institution_id
  where h.institution_id = (select w.institution_id from written w limit 1) and h.binds_from <= now();
  if not found then
    return null;
  end if;
  if exists (
    select from written t
    left join lateral (
      select s.verdict from transfer_screenings s
      where s.institution_id = t.institution_id and s.transfer_key = t.transfer_key
      offset 0
    ) s on true
    where t.status <> 'FAILED' and t.reverses_key is null and (t.currency <> hook.currency or t.amount >= hook.from_amount)
      and s.verdict is distinct from 'APPROVE' and (s.verdict is distinct from 'HOLD' or t.status <> 'PENDING')
  ) then
    raise exception 'transfers: an order that is screened has no verdict that lets it pass' using errcode = 'SD212';
  end if;
  return null;
end
$$;
