-- A session ended: each app that got a grant in it, and has an address for that, is to hear of it.
create or replace function note_ended_session() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  insert into logout_notices (institution_id, session_id, client_id, user_key, host)
  select distinct new.institution_id, new.session_id, c.client_id, new.user_key, new.host
  from authorization_grants g
  join clients c on c.institution_id = new.institution_id and c.client_id = g.client_id
    and c.active and c.backchannel_logout_uri is not null
  where g.institution_id = new.institution_id and g.session_id = new.session_id
  on conflict do nothing;
  return null;
end
$$;
