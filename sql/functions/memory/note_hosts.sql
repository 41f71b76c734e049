-- Notes that the host names of institutions changed, all at once: a process remembers them as one answer, which stands on the
-- number 0 of the service as a whole (src/auth/hosts). The function runs as the owner, because no other login may write the table.
create or replace function note_hosts() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
  insert into public.changes values (pg_current_xact_id(), 0, 0);
  return null;
end
$$;

revoke execute on function note_hosts() from public;
