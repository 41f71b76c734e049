-- Raises consents.version (check_consent) for each consent whose accounts a statement changed. The accounts of an ended one stay.
create or replace function count_consent_changes() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update consents s set all_accounts = s.all_accounts
  where (s.institution_id, s.consent_id) in (select t.institution_id, t.consent_id from touched t);
  return null;
end
$$;
