-- The secret of an event can be deleted, and not changed.
create or replace function check_event_secret_deleted() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if num_nonnulls(new.secret, new.secret_expires_at) > 0 then
    raise exception 'events: a secret can only be deleted' using errcode = 'SD014';
  end if;
  return new;
end
$$;
