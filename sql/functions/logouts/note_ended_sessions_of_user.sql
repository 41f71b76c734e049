-- A higher token epoch ends every session of the user: a new password, a lock, a deactivation, or an operator's act. Those of an earlier
-- epoch had ended before.
create or replace function note_ended_sessions_of_user() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  insert into logout_notices (institution_id, session_id, client_id, user_key, host)
  select distinct new.institution_id, s.session_id, c.client_id, new.user_key, s.host
  from member_sessions s
  join authorization_grants g on g.institution_id = new.institution_id and g.session_id = s.session_id
  join clients c on c.institution_id = new.institution_id and c.client_id = g.client_id
    and c.active and c.backchannel_logout_uri is not null
  where s.institution_id = new.institution_id and s.user_key = new.user_key
    and s.user_epoch = old.token_epoch and s.ended_at is null
  on conflict do nothing;
  return null;
end
$$;
