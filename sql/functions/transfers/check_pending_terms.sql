-- The terms of a pending transfer change in two ways only. An approved transfer waits for its processing time and then posts. One whose
-- review or cut-off has ended, so that it would post, waits for the outcome of its instruction.
create or replace function check_pending_terms() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if new.held_for = 'CORE' then
    if old.held_for = 'CORE' or not exists (
      select from core_instructions i
      where i.institution_id = new.institution_id and i.instruction_key = new.transfer_key
        and i.mode = 'WAIT' and i.state = 'OPEN'
        and (old.when_due = 'POST' and old.due_at <= i.issued_at and not exists (
               select from transfers t
               join users u on u.institution_id = t.institution_id and u.user_key = t.user_key
               where t.institution_id = new.institution_id and t.transfer_key = new.transfer_key
                 and (u.locked_by_operator or not u.active))
             or old.held_for = 'REVIEW' and (old.when_due = 'POST' or i.issued_at < old.due_at)
                and (old.not_before is null or old.not_before <= i.issued_at)
                and old.approvals_needed <= (
                  select count(*) from transfer_approvals a
                  where a.institution_id = new.institution_id and a.transfer_key = new.transfer_key
                    and (old.when_due = 'POST' or a.approved_at < old.due_at)))
    ) then
      raise exception 'transfers: a transfer waits for the core before its review or cut-off has ended' using errcode = 'SD074';
    end if;
    return new;
  end if;
  if new.held_for <> old.held_for or (new.when_due, new.due_at) is distinct from ('POST', old.not_before) or old.approvals_needed > (
    select count(*) from transfer_approvals a
    where a.institution_id = new.institution_id and a.transfer_key = new.transfer_key
  ) then
    raise exception 'transfers: only an approved transfer can be postponed, to its processing time' using errcode = 'SD010';
  end if;
  return new;
end
$$;
