-- A session that has ended stays ended.
create or replace function check_session() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if old.ended_at is not null then
    raise exception 'session %: it has ended for good', old.session_id using errcode = 'SD203';
  end if;
  return new;
end
$$;
