-- Whoever writes must not set what checks the writing: the control total was a setting, and the service's role could set it.
-- It is a row of its transaction now, in a table that only triggers write. ADR 3.

create unlogged table control_totals (
  transaction xid8 primary key,
  total numeric not null
);
comment on table control_totals is
  'One row a transaction that posts, holds or orders, deleted as it commits; unlogged, since no row outlives its transaction.';

create or replace function add_to_control_total(change numeric) returns void language plpgsql as $$
begin
  -- Openings and adjustments are ordered by no transfer.
  if change is null then
    return;
  end if;
  update control_totals set total = total + change where transaction = pg_current_xact_id();
  if not found then
    insert into control_totals values (pg_current_xact_id(), change);
  end if;
end
$$;

drop trigger entries_without_transfer on entries;
drop trigger transfers_without_entries on transfers;

create or replace function check_control_total() returns trigger language plpgsql as $$
declare
  final numeric;
begin
  delete from control_totals where transaction = new.transaction returning total into final;
  if final <> 0 then
    raise exception 'ledger: what is posted and what was ordered differ' using errcode = 'SD017';
  end if;
  return null;
end
$$;

create constraint trigger control_totals_are_zero after insert on control_totals
  deferrable initially deferred
  for each row execute function check_control_total();

-- As the owner, who alone may write that table. No one calls them but the triggers.
alter function check_entries() security definer;
alter function take_off_control_total() security definer;
alter function check_control_total() security definer;
revoke execute on function
  check_entries(), take_off_control_total(), check_control_total(), add_to_control_total(numeric) from public;

-- With its names resolved once and for all, and inlined as before.
create or replace function control_number(kind text, posting bigint, account bigint, amount bigint) returns bigint
language sql immutable
return hashint8extended(posting, hashint8extended(account, hashint8extended(amount,
  case kind when 'HOLD' then 1 when 'RELEASE' then 2 when 'SETTLEMENT' then 3 else 0 end)));

-- No function looks for a table, an operator or another function where its caller could have put one.
do $$
declare
  found regprocedure;
begin
  for found in
    select p.oid from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.prosqlbody is null
      and not exists (select from unnest(p.proconfig) setting where starts_with(setting, 'search_path='))
  loop
    execute format('alter function %s set search_path = pg_catalog, public, pg_temp', found);
  end loop;
end
$$;
