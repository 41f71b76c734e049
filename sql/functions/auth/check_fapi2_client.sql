-- A client of the FAPI 2.0 profile has no secret, no key for RS256, and not both keys and certificates.
create or replace function check_fapi2_client() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if exists (select from client_secrets s where s.institution_id = new.institution_id and s.client_id = new.client_id)
     or exists (select from client_keys k
                where k.institution_id = new.institution_id and k.client_id = new.client_id
                  and (k.algorithm = 'RS256'
                    or exists (select from client_certificates c
                               where c.institution_id = new.institution_id and c.client_id = new.client_id))) then
    raise exception 'client %: the FAPI 2.0 profile excludes its secrets, keys or certificates', new.client_id using errcode = 'SD208';
  end if;
  return new;
end
$$;
