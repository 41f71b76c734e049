-- A person is erased when every account is closed and has not moved for five years by the database's clock; the person stays erased.
create or replace function check_person_erased() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if old.erased_at is not null then
    raise exception 'persons: an erased person stays erased' using errcode = 'SD120';
  end if;
  if num_nonnulls(new.email, new.phone_number, new.phone_type, new.birth_date) > 0 or new.first_name <> '' or new.last_name <> ''
     or exists (
       select from accounts a
       join balances b on b.institution_id = a.institution_id and b.account_key = a.account_key
       where a.institution_id = new.institution_id
         and (not a.closed or b.last_at >= now() - interval '1827 days')
         and a.account_key in (
           select h.account_key from holders h
           where h.institution_id = new.institution_id and h.person_key = new.person_key
           union all
           select o.account_key from customer_persons cp
           join accounts o on o.institution_id = cp.institution_id and o.customer_key = cp.customer_key
           where cp.institution_id = new.institution_id and cp.person_key = new.person_key)) then
    raise exception 'persons: an account is open or moved in the last 1827 days' using errcode = 'SD121';
  end if;
  return new;
end
$$;
