-- A PENDING transfer completes when it is due or approved, and ends together with its entries.
-- An order of a user who is locked or deactivated needs an approval: the clock alone does not post it.
-- A transfer that waits for the core completes only if the core accepted it, whoever is locked meanwhile.
create or replace function check_transfer_transition() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  ends text := case new.status when 'COMPLETED' then 'TRANSFER' else 'RELEASE' end;
begin
  if old.status <> 'PENDING' then
    raise exception 'transfer % is final', old.transfer_id using errcode = 'SD005';
  end if;
  if new.status = 'COMPLETED' and not exists (
    select from pending_transfers p
    where p.institution_id = new.institution_id and p.transfer_key = new.transfer_key
      and (p.held_for = 'CORE' and exists (
              select from core_instructions i
              where i.institution_id = new.institution_id and i.instruction_key = new.transfer_key and i.state = 'ACCEPTED')
        or (p.when_due = 'POST' and p.due_at <= new.settled_at and not exists (
              select from users u
              where u.institution_id = new.institution_id and u.user_key = new.user_key
                and (u.locked_by_operator or not u.active)))
        or (p.held_for = 'REVIEW'
            and (p.when_due = 'POST' or new.settled_at < p.due_at or exists (
              select from entries e
              join entries before on before.institution_id = e.institution_id and before.account_key = e.account_key
                and before.seq = e.seq - 1 and before.recorded_at = e.recorded_at
              where e.institution_id = new.institution_id and e.account_key in (new.from_key, new.to_key)
                and e.posting_key = new.transfer_key and e.kind = 'TRANSFER' and e.recorded_at = new.settled_at
                and e.seq > (select b.seq - 2000 from balances b
                             where b.institution_id = e.institution_id and b.account_key = e.account_key)))
            and (p.not_before is null or p.not_before <= new.settled_at)
            and p.approvals_needed <= (
              select count(*) from transfer_approvals a
              where a.institution_id = p.institution_id and a.transfer_key = p.transfer_key
                and (p.when_due = 'POST' or a.approved_at < p.due_at))))
  ) then
    raise exception 'transfer % is neither due nor approved', old.transfer_id using errcode = 'SD007';
  end if;
  if (select i.record = 'core' from institutions i where i.institution_id = new.institution_id) and (
    new.status = 'COMPLETED' and not exists (
      select from core_instructions i
      where i.institution_id = new.institution_id and i.instruction_key = new.transfer_key
        and (i.mode <> 'WAIT' or i.state = 'ACCEPTED'))
    or new.status = 'FAILED' and exists (
      select from core_instructions i
      where i.institution_id = new.institution_id and i.instruction_key = new.transfer_key
        and i.state not in ('REJECTED', 'WITHDRAWN'))
  ) then
    raise exception 'transfer % ends without the core', old.transfer_id using errcode = 'SD073';
  end if;
  if new.status = 'PENDING' or exists (
    select from (values (new.from_key, -new.amount), (new.to_key, new.amount)) as side (account_key, amount)
    where not exists (
      select from entries e
      where e.institution_id = new.institution_id and e.account_key = side.account_key
        and e.posting_key = new.transfer_key and e.kind = ends and e.recorded_at = new.settled_at
        and e.amount = case ends when 'TRANSFER' then side.amount else 0 end
        and e.seq > (select b.seq - 2000 from balances b
                     where b.institution_id = new.institution_id and b.account_key = side.account_key))
  ) then
    raise exception 'transfer % ends without posting or releasing its amount', old.transfer_id using errcode = 'SD009';
  end if;
  return new;
end
$$;
