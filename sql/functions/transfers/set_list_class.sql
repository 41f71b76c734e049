-- A statement does not name the list class, so none can write a wrong one.
create or replace function set_list_class() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  new.list_class := public.list_class_of(new.status, new.transfer_type);
  return new;
end
$$;
