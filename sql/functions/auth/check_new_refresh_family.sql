-- A client whose tokens are bound to a key or a certificate begins no login without one. A login that came of a grant stands on the grant's
-- consent, whatever wrote it.
create or replace function check_new_refresh_family() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if exists (
    select from clients c
    where c.institution_id = new.institution_id and c.client_id = new.client_id
      and (c.requires_dpop and new.key_thumbprint is null
        or c.binds_to_certificate and new.certificate_thumbprint is null)) then
    raise exception 'refresh family %: its client needs a key or a certificate', new.family_id using errcode = 'SD207';
  end if;
  new.consent_id := (
    select g.consent_id from authorization_grants g
    where g.institution_id = new.institution_id and g.grant_id = new.family_id);
  return new;
end
$$;
