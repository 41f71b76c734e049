-- Whether a use no longer counts: the transfer failed, or an IRA contribution was reversed.
create or replace function limit_use_is_released(institution integer, transfer bigint, key integer) returns boolean
language sql stable
set search_path = pg_catalog, public, pg_temp
as $$
  select exists (
      select from transfers t
      where t.institution_id = institution and t.transfer_key = transfer and t.status = 'FAILED')
    or key = 0 and exists (
      select from transfers r
      where r.institution_id = institution and r.reverses_key = transfer and r.reverses_key is not null
        and r.status <> 'FAILED')
$$;
