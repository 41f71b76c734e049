-- The terms of a pending transfer change in one way only: an approved transfer waits for its processing time and then posts.
create or replace function check_pending_terms() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if (new.when_due, new.due_at) is distinct from ('POST', old.not_before) or old.approvals_needed > (
    select count(*) from transfer_approvals a
    where a.institution_id = new.institution_id and a.transfer_key = new.transfer_key
  ) then
    raise exception 'transfers: only an approved transfer can be postponed, to its processing time' using errcode = 'SD010';
  end if;
  return new;
end
$$;
