-- A reversal undoes one completed transfer in full. An operator orders it; under dual control, two persons do. A transfer that the core
-- has rejected is reversed by the report of that.
create or replace function check_reversal() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if not exists (
    select from transfers o
    where o.institution_id = new.institution_id and o.transfer_key = new.reverses_key and o.status = 'COMPLETED'
      and o.reverses_key is null
      and (o.amount, o.currency, o.from_key, o.to_key) = (new.amount, new.currency, new.to_key, new.from_key)
  ) then
    raise exception 'transfer % does not reverse one completed transfer in full', new.transfer_id using errcode = 'SD011';
  end if;
  if exists (
    select from core_instructions i
    where i.institution_id = new.institution_id and i.instruction_key = new.reverses_key and i.state = 'REJECTED'
      and new.user_key is null and new.client_id is not distinct from i.decided_by
      and new.operator is not distinct from i.decided_operator
  ) then
    return null;
  end if;
  if new.operator is null or num_nonnulls(new.client_id, new.user_key) > 0 then
    raise exception 'transfer % is a reversal that no operator ordered', new.transfer_id using errcode = 'SD022';
  end if;
  if requires_dual_control(new.institution_id) and not exists (
    select from transfers o
    join proposals p on p.institution_id = o.institution_id and p.kind = 'REVERSAL' and p.subject = o.transfer_id
    where o.institution_id = new.institution_id and o.transfer_key = new.reverses_key
      and p.confirmed_at is not null and p.expires_at > new.created_at
      and share_a_person(array[p.proposed_by, p.confirmed_by], array[new.operator])
  ) then
    raise exception 'transfer % is a reversal without dual control: no second person confirmed it', new.transfer_id
      using errcode = 'SD051';
  end if;
  return null;
end
$$;
