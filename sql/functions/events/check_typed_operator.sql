-- Only a demo institution accepts a typed operator name.
create or replace function check_typed_operator() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if not exists (select from institutions i where i.institution_id = new.institution_id and i.demo) then
    raise exception 'audit: only a demo institution accepts a typed operator name' using errcode = 'SD020';
  end if;
  return new;
end
$$;
