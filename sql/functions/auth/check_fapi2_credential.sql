-- A client of the FAPI 2.0 profile gets no secret, no key for RS256, and not both keys and certificates. The lock makes two additions at once
-- wait for each other.
create or replace function check_fapi2_credential() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  profile text;
begin
  select c.security_profile into profile from clients c
  where c.institution_id = new.institution_id and c.client_id = new.client_id for update;
  if profile is distinct from 'FAPI2' then
    return new;
  end if;
  if tg_table_name = 'client_secrets'
     or tg_table_name = 'client_keys' and (
       to_jsonb(new) ->> 'algorithm' = 'RS256'
       or exists (select from client_certificates c where c.institution_id = new.institution_id and c.client_id = new.client_id))
     or tg_table_name = 'client_certificates'
       and exists (select from client_keys k where k.institution_id = new.institution_id and k.client_id = new.client_id) then
    raise exception 'client %: the FAPI 2.0 profile excludes this secret, key or certificate', new.client_id using errcode = 'SD208';
  end if;
  return new;
end
$$;
