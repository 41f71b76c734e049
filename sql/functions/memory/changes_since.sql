-- Finds the changes that are visible now and were not at an earlier moment, and the balances that have moved since the caller read
-- them. It stands outside the wall between institutions, so it returns numbers only.
--
-- `since` is the earlier moment; null for none, which finds no changes. `account_keys` and `seqs` are the balances as the caller knows
-- them, and `known_to` has the institution of each: those of an institution should stand together, since each run of them is one
-- look. `institutions` is not used any more. `changed` has
-- institution * 65536 + the number of the thing. `moved` has the places of the moved balances, from 1. `is_kept` is false if
-- changes since the moment may have been deleted.
create or replace function changes_since(
  since pg_snapshot, institutions integer[], known_to integer[], account_keys bigint[], seqs bigint[],
  out at pg_snapshot, out is_kept boolean, out changed bigint[], out moved integer[])
language plpgsql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
  institution integer;
  -- The ends of a run of balances of one institution.
  first integer := 1;
  last integer;
  -- A transaction was invisible if it had not begun, or was still running.
  next_xid xid8 := pg_snapshot_xmax(since);
  running xid8[];
  has_changed boolean;
begin
  at := pg_current_snapshot();
  if pg_snapshot_xmin(since) <> next_xid then
    running := array(select pg_snapshot_xip(since));
  end if;
  select k.kept_from <= pg_snapshot_xmin(since),
         exists (select from public.changes c where c.xid >= next_xid)
         or running is not null and exists (select from public.changes c where c.xid = any (running))
  into is_kept, has_changed
  from public.changes_kept k;
  is_kept := coalesce(is_kept, false);
  if is_kept and has_changed then
    changed := array(
      select (c.institution_id::bigint << 16) + c.subject from public.changes c where c.xid >= next_xid
      union
      select (c.institution_id::bigint << 16) + c.subject from public.changes c where c.xid = any (running));
  end if;
  while first <= cardinality(known_to) loop
    institution := known_to[first];
    last := first;
    while known_to[last + 1] = institution loop
      last := last + 1;
    end loop;
    perform set_config('sharedraft.institution', institution::text, true);
    moved := moved || array(
      select first - 1 + known.place::integer
      from unnest(account_keys[first:last], seqs[first:last]) with ordinality as known (account_key, seq, place)
      where known.seq is distinct from (
        select b.seq from public.balances b where b.institution_id = institution and b.account_key = known.account_key));
    first := last + 1;
  end loop;
end
$$;

revoke execute on function changes_since(pg_snapshot, integer[], integer[], bigint[], bigint[]) from public;
grant execute on function changes_since(pg_snapshot, integer[], integer[], bigint[], bigint[]) to sharedraft_service;
