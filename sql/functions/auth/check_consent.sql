-- A consent ends for good: the next one is another row.
create or replace function check_consent() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if old.ended_at is not null then
    raise exception 'consent %: it has ended for good', old.consent_id using errcode = 'SD204';
  end if;
  return new;
end
$$;
