-- Notes a transaction that changed rows, so that processes forget what they remember of the directory.
create or replace function note_directory_change() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if exists (select from touched) then
    insert into public.directory_changes values (pg_current_xact_id());
  end if;
  return null;
end
$$;

revoke execute on function note_directory_change() from public;
