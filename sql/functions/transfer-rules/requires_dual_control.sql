-- Dual control applies as soon as one policy names an amount for a second approval.
create or replace function requires_dual_control(institution integer) returns boolean
language sql stable
set search_path = pg_catalog, public, pg_temp
as $$
  select exists (
    select from transfer_policies p
    where p.institution_id = institution and p.second_approval_above is not null)
$$;
