-- Row-level security of a migration's new tables: each row belongs to the institution in the setting sharedraft.institution.
-- The subselect is evaluated once a statement, not once a row.
create or replace function bind_to_institution(variadic tenants regclass[]) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  tenant regclass;
begin
  foreach tenant in array tenants loop
    execute format('alter table %s enable row level security', tenant);
    execute format('alter table %s force row level security', tenant);
    execute format(
      'create policy institution on %s using (institution_id = (select current_setting(''sharedraft.institution'')::integer))',
      tenant);
  end loop;
end
$$;

revoke execute on function bind_to_institution(regclass[]) from public;
