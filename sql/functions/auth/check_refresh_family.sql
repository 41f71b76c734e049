-- A revoked family stays revoked, and each refresh token directly follows the last one.
create or replace function check_refresh_family() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if old.revoked_at is not null then
    raise exception 'refresh family %: it is revoked for good', old.family_id using errcode = 'SD201';
  end if;
  if new.generation not in (old.generation, old.generation + 1)
     or (new.generation = old.generation) <> (new.token_hash = old.token_hash) then
    raise exception 'refresh family %: a new token must directly follow the last one', old.family_id using errcode = 'SD202';
  end if;
  return new;
end
$$;
