-- A client of the FAPI 2.0 profile gets no secret, and no key for RS256.
create or replace function check_fapi2_credential() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if coalesce(to_jsonb(new) ->> 'algorithm', 'RS256') = 'RS256' and (
    select c.security_profile = 'FAPI2' from clients c
    where c.institution_id = new.institution_id and c.client_id = new.client_id) then
    raise exception 'client %: the FAPI 2.0 profile excludes this secret or key', new.client_id using errcode = 'SD208';
  end if;
  return new;
end
$$;
