-- Each approval comes from another person.
create or replace function check_approval_by_another_person() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  -- Of two approvals at once, the second waits here and then reads the first.
  perform from pending_transfers p
  where p.institution_id = new.institution_id and p.transfer_key = new.transfer_key for no key update;
  if exists (
    select from transfer_approvals a
    where a.institution_id = new.institution_id and a.transfer_key = new.transfer_key
      and share_a_person(array[a.operator, a.sudo_user], array[new.operator, new.sudo_user])
  ) then
    raise exception 'transfers: one person cannot approve a transfer twice' using errcode = 'SD021';
  end if;
  return new;
end
$$;
