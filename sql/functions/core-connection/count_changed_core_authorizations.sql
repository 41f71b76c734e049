-- A changed authorization orders the entries that raise or lower its hold. An ended one stays ended.
create or replace function count_changed_core_authorizations() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if exists (
    select from written a join replaced o using (institution_id, authorization_id)
    where o.ended is not null and a.ended is distinct from o.ended
  ) then
    raise exception 'core: an authorization that has ended was changed' using errcode = 'SD061';
  end if;
  perform add_to_control_total(-sum(
    control_number(c.kind, a.posting_key, a.account_key, o.held - a.held)::numeric
    + control_number(c.kind, a.posting_key, a.settlement_key, a.held - o.held)))
  from written a
  join replaced o using (institution_id, authorization_id)
  cross join lateral (select case when a.held > o.held then 'CORE_HOLD' else 'CORE_RELEASE' end as kind) c
  where a.held <> o.held;
  return null;
end
$$;

revoke execute on function count_changed_core_authorizations() from public;
