-- A passkey belongs to an active operator who was invited: the others sign in another way.
create or replace function check_operator_passkey() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if not exists (
    select from operators o
    where o.institution_id = new.institution_id and o.operator_id = new.operator_id and o.status = 'ACTIVE'
      and o.source = 'INVITATION') then
    raise exception 'operators: the operator is not active, or has no passkeys' using errcode = 'SD142';
  end if;
  return new;
end
$$;
