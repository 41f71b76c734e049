-- Attaches the audit and the notes of changes to a migration's table.
create or replace function watch_directory_table(watched regclass) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  part record;
begin
  execute format('create trigger note_row after insert or update or delete on %s for each row execute function note_directory_row()',
                 watched);
  for part in select * from (values
    ('inserted', 'insert', 'new'), ('updated', 'update', 'new'), ('deleted', 'delete', 'old')) as p (name, event, rows)
  loop
    execute format('create trigger %I after %s on %s referencing %s table as touched for each statement
                    execute function note_directory_change()', 'note_' || part.name, part.event, watched, part.rows);
  end loop;
end
$$;

revoke execute on function watch_directory_table(regclass) from public;
