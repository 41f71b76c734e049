-- A change of a provider raises its generation, which voids all tokens of the old generation.
create or replace function check_provider_generation() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if new.generation <= old.generation then
    raise exception 'identity provider %: a change needs a higher generation', old.provider_id using errcode = 'SD101';
  end if;
  return new;
end
$$;
