-- Writes the audit entry of a row. As the owner, since no other login may write the audit.
create or replace function note_directory_row() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
  insert into public.directory_entries (actor, table_name, action, before, after)
  values (coalesce(nullif(current_setting('sharedraft.actor', true), ''), 'by hand'), tg_table_name, lower(tg_op),
          case when tg_op <> 'INSERT' then to_jsonb(old) end, case when tg_op <> 'DELETE' then to_jsonb(new) end);
  return null;
end
$$;

revoke execute on function note_directory_row() from public;
