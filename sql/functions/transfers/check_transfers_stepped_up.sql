-- Where the institution wants a recent sign-in for large transfers, no member's transfer above the amount moves or holds money without
-- one. Institutions without the policy pay one look-up a statement.
create or replace function check_transfers_stepped_up() returns trigger
language plpgsql
set enable_seqscan = off
set search_path = pg_catalog, public, pg_temp
as $$
declare
  policy record;
begin
  select i.currency, i.transfer_step_up_above as above, i.transfer_step_up_passkey as passkey,
         i.transfer_step_up_max_age * interval '1 second' as max_age
  into policy
  from institutions i
  where i.institution_id = (select w.institution_id from written w limit 1)
    and i.transfer_step_up_max_age > 0 and i.transfer_step_up_from <= now();
  if not found then
    return null;
  end if;
  if exists (
    select from written t
    left join lateral (
      select s.signed_in_at, s.acr, s.checked_at from transfer_sign_ins s
      where s.institution_id = t.institution_id and s.transfer_key = t.transfer_key
      offset 0
    ) s on true
    where t.status <> 'FAILED' and t.user_key is not null and (t.currency <> policy.currency or t.amount > policy.above)
      and (s.signed_in_at is null or s.signed_in_at < s.checked_at - policy.max_age or policy.passkey and s.acr is distinct from 'phr')
  ) then
    raise exception 'transfers: a transfer above the amount needs a recent sign-in' using errcode = 'SD214';
  end if;
  return null;
end
$$;
