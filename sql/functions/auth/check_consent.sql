-- A consent ends for good: the next one is another row. Until then it only becomes narrower, and counts its changes.
create or replace function check_consent() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if old.ended_at is not null then
    raise exception 'consent %: it has ended for good', old.consent_id using errcode = 'SD204';
  end if;
  if not new.scopes <@ old.scopes or (new.all_accounts and not old.all_accounts) then
    raise exception 'consent %: it cannot become wider', old.consent_id using errcode = 'SD216';
  end if;
  new.version := old.version + 1;
  return new;
end
$$;
