-- An act stands under the name of an operator who is active when it commits, and a decision on a transfer under one who may decide.
create or replace function check_operator_acts() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if not exists (
    select from operators o
    where o.institution_id = new.institution_id and o.operator_id = new.operator_id and o.name = new.operator
      and o.status = 'ACTIVE'
      and (new.action not in ('transfer.approved', 'transfer.declined', 'transfer.reversal_proposed',
                              'transfer.reversal_confirmed', 'transfer.reversed')
           or 'approver' = any (o.roles))) then
    raise exception 'audit: the operator is not active, or may not decide on transfers' using errcode = 'SD141';
  end if;
  return new;
end
$$;
