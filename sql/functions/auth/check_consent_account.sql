-- A consent names accounts of its member, and more of them only while it covers all or is new.
create or replace function check_consent_account() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if tg_op = 'UPDATE' then
    if new.may_pay then
      raise exception 'consent %: it cannot become wider', new.consent_id using errcode = 'SD216';
    end if;
    return new;
  end if;
  if not exists (
    select from consents s
    where s.institution_id = new.institution_id and s.consent_id = new.consent_id and s.ended_at is null
      and (s.all_accounts or s.version = 0 and s.xmin = pg_current_xact_id()::xid)) then
    raise exception 'consent %: it cannot become wider', new.consent_id using errcode = 'SD216';
  end if;
  if not exists (
    select from consents s
    join users u on u.institution_id = s.institution_id and u.user_key = s.user_key
    join holders h on h.institution_id = s.institution_id and h.person_key = u.person_key
    where s.institution_id = new.institution_id and s.consent_id = new.consent_id and h.account_key = new.account_key
      and (h.may_pay or not new.may_pay)) then
    raise exception 'consent %: its member does not hold the account so', new.consent_id using errcode = 'SD217';
  end if;
  return new;
end
$$;
