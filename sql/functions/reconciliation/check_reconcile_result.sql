-- A run comes with its findings by one statement, all of those that it says to keep, and none is added later.
create or replace function check_reconcile_result() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if exists (
    select from (select distinct w.institution_id, w.run_key from written w) w
    join reconcile_results r on r.institution_id = w.institution_id and r.run_key = w.run_key
    cross join lateral (
      select count(*) as findings, coalesce(max(f.place), 0) as last
      from reconcile_findings f where f.institution_id = r.institution_id and f.run_key = r.run_key) f
    where f.findings <> r.kept or f.last <> r.kept
  ) then
    raise exception 'reconcile_results: the findings of a run are not those that it keeps' using errcode = 'SD220';
  end if;
  if exists (
    select from (select distinct w.institution_id, w.run_key from written w) w
    join reconcile_findings f on f.institution_id = w.institution_id and f.run_key = w.run_key
    group by f.institution_id, f.run_key, f.kind having count(*) > 100
  ) then
    raise exception 'reconcile_findings: a run keeps a hundred findings of a kind' using errcode = 'SD220';
  end if;
  return null;
end
$$;
