-- The parts of a loan payment add up to the amount of its entry.
create or replace function check_loan_payments() returns trigger
language plpgsql
set enable_seqscan = off
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if exists (
    select from written p
    left join lateral (
      select e.amount from entries e
      where e.institution_id = p.institution_id and e.account_key = p.account_key and e.seq = p.seq
      offset 0
    ) e on true
    where e.amount is distinct from p.to_fees + p.to_interest + p.to_principal
  ) then
    raise exception 'loans: the parts of a payment do not add up to its amount' using errcode = 'SD008';
  end if;
  return null;
end
$$;
