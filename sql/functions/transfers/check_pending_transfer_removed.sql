-- The row of a transfer stays in pending_transfers until the transfer is final.
create or replace function check_pending_transfer_removed() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if exists (
    select from transfers t
    where t.institution_id = old.institution_id and t.transfer_key = old.transfer_key and t.status = 'PENDING'
  ) then
    raise exception 'transfers: a pending transfer needs a row in pending_transfers' using errcode = 'SD010';
  end if;
  return null;
end
$$;
