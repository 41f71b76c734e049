-- A session begins for an active operator only, and by the way of signing in that the operator has.
create or replace function check_operator_session() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if not exists (
    select from operators o
    where o.institution_id = new.institution_id and o.operator_id = new.operator_id and o.status = 'ACTIVE'
      and o.source = case new.method when 'passkey' then 'INVITATION' when 'provider' then 'PROVIDER' else 'DEMO' end) then
    raise exception 'operators: the operator is not active, or signs in another way' using errcode = 'SD142';
  end if;
  return new;
end
$$;
