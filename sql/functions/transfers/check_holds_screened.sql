-- A transfer that screening holds needs a person: it waits for a review, and expires without an approval.
create or replace function check_holds_screened() returns trigger
language plpgsql
set enable_seqscan = off
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if exists (
    select from written p
    cross join lateral (
      select from transfer_screenings s
      where s.institution_id = p.institution_id and s.transfer_key = p.transfer_key and s.verdict = 'HOLD'
      offset 0
    ) s
    where p.held_for <> 'REVIEW' or p.when_due <> 'EXPIRE' or p.approvals_needed = 0
  ) then
    raise exception 'transfers: a transfer that screening holds needs an approval' using errcode = 'SD213';
  end if;
  return null;
end
$$;
