-- An app that is not the institution's own gets a grant only within a consent of the member.
create or replace function check_new_authorization_grant() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if new.consent_id is null then
    if not (select c.is_first_party from clients c where c.institution_id = new.institution_id and c.client_id = new.client_id) then
      raise exception 'authorization grant %: the app needs a consent', new.grant_id using errcode = 'SD206';
    end if;
  elsif not exists (
    select from consents s
    where s.institution_id = new.institution_id and s.consent_id = new.consent_id and s.client_id = new.client_id
      and s.user_key = new.user_key and s.ended_at is null and s.expires_at > new.created_at and new.scopes <@ s.scopes) then
    raise exception 'authorization grant %: no consent covers it', new.grant_id using errcode = 'SD206';
  end if;
  return new;
end
$$;
