-- A counter goes down only by the amounts of transfers that failed or were reversed.
create or replace function check_limit_counter_lowered() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if exists (
    select from (
      select coalesce(sum(u.amount), 0) as amount, count(*) as transfers
      from limit_uses u
      where u.institution_id = old.institution_id and u.limit_key = old.limit_key
        and u.subject_key = old.subject_key and u.period_start = old.period_start
        and limit_use_is_released(u.institution_id, u.transfer_key, u.limit_key)
    ) back
    where old.amount - new.amount > back.amount or old.transfers - new.transfers > back.transfers
  ) then
    raise exception 'limits: a counter is lowered by more than failed and reversed transfers release' using errcode = 'SD012';
  end if;
  return new;
end
$$;
