-- At commit, each PENDING transfer has its row in pending_transfers.
create or replace function check_pending_transfer_exists() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if not exists (
    select from pending_transfers p
    where p.institution_id = new.institution_id and p.transfer_key = new.transfer_key
  ) and exists (
    select from transfers t
    where t.institution_id = new.institution_id and t.transfer_key = new.transfer_key and t.status = 'PENDING'
  ) then
    raise exception 'transfers: a pending transfer needs a row in pending_transfers' using errcode = 'SD010';
  end if;
  return null;
end
$$;
