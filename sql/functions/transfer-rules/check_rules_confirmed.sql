-- Under dual control, a change of rules needs a proposal that this transaction confirmed. The check runs before each statement, so
-- that no transaction first ends dual control and then changes the rest.
create or replace function check_rules_confirmed() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  institution constant integer := nullif(current_setting('sharedraft.institution', true), '');
begin
  if requires_dual_control(institution) and not exists (
    select from proposals p
    where p.institution_id = institution and p.kind = 'RULES' and p.confirmed_xid = pg_current_xact_id()
  ) then
    raise exception 'rules: dual control requires a second person to confirm this change' using errcode = 'SD052';
  end if;
  return null;
end
$$;
