-- An adjusted break names the entry that moved its account by the whole difference. Under dual control, this transaction has the word of
-- a second person, on the same amount: a comparison may have changed the difference since the first person's.
create or replace function check_break_adjusted() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if not exists (
    select from entries e
    where e.institution_id = new.institution_id and e.account_key = new.account_key and e.seq = new.adjusted_seq
      and e.kind = 'ADJUSTMENT' and e.amount = new.difference and e.xmin = pg_current_xact_id()::xid
  ) then
    raise exception 'core_breaks: no adjustment has posted the difference of break %', new.break_key using errcode = 'SD081';
  end if;
  if requires_dual_control(new.institution_id) and not exists (
    select from proposals p
    where p.institution_id = new.institution_id and p.kind = 'ADJUSTMENT' and p.subject = new.break_key::text
      and (p.account_id, p.currency, p.amount) = (new.account_id, new.currency, new.difference)
      and p.confirmed_xid = pg_current_xact_id()
  ) then
    raise exception 'core_breaks: break % is adjusted without dual control: no second person confirmed its amount', new.break_key
      using errcode = 'SD082';
  end if;
  return new;
end
$$;
