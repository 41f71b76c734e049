-- Empties the stage after an import, and returns false if another import runs: its rows stand in the same tables. Truncating is
-- faster than deleting each row. An import that wants to begin waits.
create or replace function empty_import_stage(ended text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
  lock table public.import_runs in exclusive mode;
  if exists (select from public.import_runs r where r.code <> ended) then
    return false;
  end if;
  truncate public.staged_persons, public.staged_members, public.staged_member_persons, public.staged_accounts,
    public.staged_holders, public.staged_rejects;
  return true;
end
$$;

revoke execute on function empty_import_stage(text) from public;
grant execute on function empty_import_stage(text) to sharedraft_service;
