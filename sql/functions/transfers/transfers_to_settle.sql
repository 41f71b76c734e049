-- Institutions with a pending transfer that is due and that the clock ends: the condition of selectDue in
-- src/transfers/desk/pending-queries.ts. One question for all institutions, from outside their wall: it returns numbers of
-- institutions only.
create or replace function transfers_to_settle(at_time timestamptz)
returns table (institution integer)
language plpgsql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
  ahead bigint;
begin
  for institution, ahead in select i.institution_id, i.clock_ahead_seconds from public.institutions i where i.served = 'here' loop
    perform set_config('sharedraft.institution', institution::text, true);
    if exists (
      select from public.pending_transfers p
      join public.transfers t on t.institution_id = institution and t.transfer_key = p.transfer_key
      where p.institution_id = institution and p.due_at <= at_time + make_interval(secs => ahead)
        and not (p.when_due = 'POST' and exists (
          select from public.users u
          where u.institution_id = institution and u.user_key = t.user_key and (u.locked_by_operator or not u.active)))
        and not (p.held_for = 'CORE' and exists (
          select from public.core_instructions c
          where c.institution_id = institution and c.instruction_key = p.transfer_key and c.delivered_at is not null)))
    then
      return next;
    end if;
  end loop;
end
$$;

revoke execute on function transfers_to_settle(timestamptz) from public;
grant execute on function transfers_to_settle(timestamptz) to sharedraft_service;
