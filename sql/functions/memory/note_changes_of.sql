-- Notes the changes of a migration's table, by the kinds of things that its rows describe. The key of a kind stands in the
-- column of its name (account_key, person_key, user_key, customer_key, revoked_id); no row changes it.
create or replace function note_changes_of(described regclass, variadic kinds text[]) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  arguments text := (select string_agg(quote_literal(kind), ', ') from unnest(kinds) kind);
  part record;
begin
  for part in select * from (values
    ('inserted', 'insert', 'referencing new table as touched'),
    ('updated', 'update', 'referencing new table as touched'),
    ('deleted', 'delete', 'referencing old table as touched'),
    ('truncated', 'truncate', '')) as p (name, event, rows)
  loop
    execute format('create trigger %I after %s on %s %s for each statement execute function note_changes(%s)',
                   'note_' || part.name, part.event, described, part.rows, arguments);
  end loop;
end
$$;

revoke execute on function note_changes_of(regclass, text[]) from public;
