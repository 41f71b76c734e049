-- A code is exchanged once, and not after its time.
create or replace function check_authorization_grant() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if old.exchanged_at is not null or new.exchanged_at >= old.expires_at then
    raise exception 'authorization grant %: its code was exchanged or has expired', old.grant_id using errcode = 'SD205';
  end if;
  return new;
end
$$;
