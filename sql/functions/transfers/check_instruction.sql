-- At commit, an instruction and its transfer agree. An open one of mode WAIT holds its transfer, any other has moved the money.
-- An accepted one has completed it, a withdrawn one has failed it, and a rejected one has failed or reversed it. The core can refuse a
-- reversal as well: that one stays, and is a break. MEMO stays within one membership, except for reversals.
create or replace function check_instruction() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if not exists (
    select from core_instructions i
    join transfers t on t.institution_id = i.institution_id and t.transfer_key = i.instruction_key
      and (t.from_key, t.to_key, t.amount, t.currency) = (i.from_key, i.to_key, i.amount, i.currency)
    where i.institution_id = new.institution_id and i.instruction_key = new.instruction_key
      and case i.state
            when 'OPEN' then
              case i.mode when 'WAIT' then t.status = 'PENDING' and exists (
                select from pending_transfers p
                where p.institution_id = t.institution_id and p.transfer_key = t.transfer_key and p.held_for = 'CORE')
              else t.status = 'COMPLETED' end
            when 'ACCEPTED' then t.status = 'COMPLETED'
            when 'WITHDRAWN' then t.status = 'FAILED'
            when 'REJECTED' then t.status = 'FAILED' or t.reverses_key is not null or exists (
              select from transfers r
              where r.institution_id = t.institution_id and r.reverses_key = t.transfer_key and r.reverses_key is not null
                and r.status = 'COMPLETED')
          end
  ) then
    raise exception 'instructions: an instruction and its transfer differ' using errcode = 'SD071';
  end if;
  if tg_op = 'INSERT' and new.mode = 'MEMO' and not exists (
    select from transfers t
    where t.institution_id = new.institution_id and t.transfer_key = new.instruction_key
      and (t.reverses_key is not null or exists (
        select from accounts a
        join accounts b on b.institution_id = a.institution_id and b.customer_key = a.customer_key
        where a.institution_id = t.institution_id and a.account_key = t.from_key and b.account_key = t.to_key))
  ) then
    raise exception 'instructions: a transfer between two memberships waits for the core' using errcode = 'SD072';
  end if;
  return null;
end
$$;
