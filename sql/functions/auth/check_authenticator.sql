-- A code of an authenticator app counts once: each use is of a later step than the last one (RFC 6238 section 5.2).
create or replace function check_authenticator() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if new.last_step < old.last_step or (new.last_step = old.last_step and new.last_used_at is distinct from old.last_used_at) then
    raise exception 'authenticator %: step % does not follow %', old.authenticator_id, new.last_step, old.last_step
      using errcode = 'SD215';
  end if;
  return new;
end
$$;
