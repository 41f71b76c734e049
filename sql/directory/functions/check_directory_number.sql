-- An institution has the number of a cell that the directory knows: the one in which it was created.
create or replace function check_directory_number() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if not exists (select from public.directory_cells c
                 where new.institution_id between c.first_number and c.last_number) then
    raise exception 'no cell of the directory has the number %', new.institution_id using errcode = 'SD161';
  end if;
  return new;
end
$$;
