-- A transfer that an app ordered under a consent leaves an account from which the consent, as it is now, lets the app pay. The foreign key
-- of the row waits for a change of the consent that is under way.
create or replace function check_transfers_consented() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if exists (
    select from written w
    join transfers t on t.institution_id = w.institution_id and t.transfer_key = w.transfer_key
    where t.status <> 'FAILED' and not exists (
      select from consents s
      where s.institution_id = w.institution_id and s.consent_id = w.consent_id and s.client_id = t.client_id
        and s.user_key = t.user_key and s.ended_at is null and 'transfer:write' = any (s.scopes)
        and (s.all_accounts or exists (
          select from consent_accounts a
          where a.institution_id = w.institution_id and a.consent_id = w.consent_id and a.account_key = t.from_key
            and a.may_pay)))) then
    raise exception 'transfers: the consent does not let the app pay from the account' using errcode = 'SD218';
  end if;
  return null;
end
$$;
