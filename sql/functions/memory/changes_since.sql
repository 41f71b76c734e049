-- The changes that are visible now and were not at an earlier moment, and the balances that have another number than the caller
-- knows. It stands outside the wall between institutions, and returns numbers only. `changed` has institution * 65536 + subject.
-- `is_kept` is false if changes since that moment may have been deleted; without a moment there are none.
create or replace function changes_since(
  since pg_snapshot, institutions integer[], account_keys bigint[], seqs bigint[],
  out at pg_snapshot, out is_kept boolean, out changed bigint[], out moved integer[])
language plpgsql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
  institution integer;
begin
  at := pg_current_snapshot();
  is_kept := since is not null and (select k.kept_from <= pg_snapshot_xmin(since) from public.changes_kept k);
  if is_kept then
    -- A transaction was invisible if it had not begun, or was still running.
    changed := array(
      select (c.institution_id::bigint << 16) + c.subject from public.changes c where c.xid >= pg_snapshot_xmax(since)
      union
      select (c.institution_id::bigint << 16) + c.subject from public.changes c
      where c.xid = any (array(select pg_snapshot_xip(since))));
  end if;
  foreach institution in array array(select distinct i from unnest(institutions) i) loop
    perform set_config('sharedraft.institution', institution::text, true);
    moved := moved || array(
      select known.place::integer
      from unnest(institutions, account_keys, seqs) with ordinality as known (institution_id, account_key, seq, place)
      left join lateral (
        select b.seq from public.balances b
        where b.institution_id = institution and b.account_key = known.account_key offset 0) b on true
      where known.institution_id = institution and b.seq is distinct from known.seq);
  end loop;
end
$$;

revoke execute on function changes_since(pg_snapshot, integer[], bigint[], bigint[]) from public;
grant execute on function changes_since(pg_snapshot, integer[], bigint[], bigint[]) to sharedraft_service;
