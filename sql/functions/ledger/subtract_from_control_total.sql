-- A transfer orders an entry on each of its accounts: HOLD if it starts as PENDING, TRANSFER if it completes at once. A transfer
-- that was PENDING orders SETTLEMENT (post and end the hold) or RELEASE.
create or replace function subtract_from_control_total() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
  perform add_to_control_total(-sum(
    control_number(o.kind, t.transfer_key, t.from_key, -o.amount)::numeric
    + control_number(o.kind, t.transfer_key, t.to_key, o.amount)))
  from written t
  cross join lateral (
    select case when tg_op = 'INSERT' and t.status = 'PENDING' then 'HOLD' when tg_op = 'INSERT' then 'TRANSFER'
                when t.status = 'COMPLETED' then 'SETTLEMENT' else 'RELEASE' end as kind,
           case when t.status = 'FAILED' then -t.amount else t.amount end as amount
  ) o
  where t.status <> 'FAILED' or tg_op = 'UPDATE';
  return null;
end
$$;

revoke execute on function subtract_from_control_total() from public;
